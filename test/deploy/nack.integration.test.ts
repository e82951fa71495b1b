import { jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { applyTopology, Consumers, Nats, readyConsumer, topology } from "#bus"
import { Metrics } from "#runtime"
import { generatedFiles } from "../../deploy/generate/files.ts"
import { natsServer } from "../../dev/fixtures/bus.ts"
import { makeAsNack } from "./nack.ts"

const { isReady: _, ...consumer } = readyConsumer("REPORTS", "pipeline-api")

describe("what NACK makes of the generated objects", () => {
  it.live("is what roles wait for, and what one of an earlier release can set its limit on after a rollback", () =>
    Effect.gen(function* () {
      const { url } = yield* natsServer
      const manifest = generatedFiles().find(({ path }) => path.endsWith("nats/streams.yaml"))?.content
      assert.isDefined(manifest)
      yield* Effect.promise(async () => {
        const connection = await connect({ servers: url })
        await makeAsNack(await jetstreamManager(connection), manifest ?? "")
        await connection.close()
      })
      const verified = applyTopology(topology, { mode: "verify", replicas: 1 })

      yield* Effect.gen(function* () {
        yield* verified
        const { ensure } = yield* Consumers
        yield* ensure({ ...consumer, unackedMax: 64, ackWaitMs: 30_000 })
        const { manager } = yield* Nats
        const { config } = yield* Effect.promise(() => manager.consumers.info(consumer.stream, consumer.durable))
        assert.strictEqual(config.max_ack_pending, 64)
        yield* verified
      }).pipe(
        Effect.provide(
          Consumers.layer.pipe(
            Layer.provideMerge(Nats.layerWith({ servers: [url], name: "role" })),
            Layer.provide(Metrics.layerTest)
          )
        )
      )
    })
  )
})
