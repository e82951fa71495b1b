/** A process that claims a key and works for ever, to be killed. Arguments: the broker's address, the lease. */
import { argv, stdout } from "node:process"
import { Effect, Layer } from "effect"
import { Kv, Nats } from "#bus"
import { Idempotency } from "#http"
import { Metrics } from "#runtime"
import { request } from "../replicas.ts"

const [, , url = "", leaseMs = ""] = argv

const work = Effect.andThen(
  Effect.sync(() => stdout.write("working\n")),
  Effect.never
)

Idempotency.use((idempotency) => idempotency.run(request(), work)).pipe(
  Effect.provide(
    Idempotency.layer({ leaseMs: Number(leaseMs) }).pipe(
      Layer.provide(Kv.layer.pipe(Layer.provide(Nats.layerWith({ servers: [url], name: "holder" })))),
      Layer.provide(Metrics.layerTest)
    )
  ),
  Effect.runFork
)
