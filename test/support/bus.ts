/** The real bus for integration tests: a nats-server of the test's own, the topology on it, and every service. */
import { Effect, Layer } from "effect"
import { applyTopology, busServices, Nats, topology, type Topology } from "#bus"
import { Health, Metrics } from "#runtime"
import { startNatsServer, type TestNatsServer } from "./nats-server.ts"

export const natsServer = Effect.acquireRelease(
  Effect.promise(() => startNatsServer()),
  (server) => Effect.promise(() => server.stop())
)

const prepare = (wanted: Topology) => Layer.effectDiscard(applyTopology(wanted, { mode: "create", replicas: 1 }))

/** The bus on a given server. */
export const busOn = (server: TestNatsServer, wanted: Topology = topology) =>
  busServices.pipe(
    Layer.provideMerge(prepare(wanted)),
    Layer.provideMerge(Nats.layerWith({ servers: [server.url], name: "test" })),
    Layer.provideMerge(Metrics.layerTest),
    Layer.provideMerge(Health.layer)
  )

/** Runs a test on a bus of its own. */
export const withBus = <A, E, R>(test: (server: TestNatsServer) => Effect.Effect<A, E, R>, wanted?: Topology) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* test(server).pipe(Effect.provide(busOn(server, wanted)))
  })

// Twice what a machine of two cores has been seen to need that had a dozen other things to do.
const patienceMs = 20_000

/** Asks again and again until something is so; fails after `withinMs`. */
export const eventually = <E, R>(is: Effect.Effect<boolean, E, R>, withinMs = patienceMs) =>
  Effect.gen(function* () {
    const deadline = performance.now() + withinMs
    while (!(yield* is)) {
      if (performance.now() > deadline) return yield* Effect.die(new Error(`not so within ${withinMs} ms`))
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
    }
  })
