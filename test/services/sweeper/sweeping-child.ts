/** A process that holds a sweep until it is killed, and reports every run to its parent. */
import { Effect, Layer } from "effect"
import { applyTopology, busServices, Nats, topology } from "#bus"
import { Health, Metrics } from "#runtime"
import { runSweeps } from "../../../services/sweeper/sweeps.ts"

const url = process.argv[2] ?? ""
const bus = busServices.pipe(
  Layer.provideMerge(Layer.effectDiscard(applyTopology(topology, { mode: "create", replicas: 1 }))),
  Layer.provideMerge(Nats.layerWith({ servers: [url], name: "child" })),
  Layer.provideMerge(Metrics.layerTest),
  Layer.provideMerge(Health.layer)
)
const run = Effect.sync(() => ({ seen: process.send?.("ran") === true ? 0 : 1 }))
const sweeping = runSweeps({ epoch: "child" }, [{ name: "agents", everyMs: 20, begin: Effect.succeed(run) }])

Effect.runFork(Effect.scoped(Effect.andThen(sweeping, Effect.never)).pipe(Effect.provide(bus)))
