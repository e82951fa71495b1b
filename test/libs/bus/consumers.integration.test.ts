import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { applyTopology, type ConsumerDeclaration, Consumers, Nats, topology } from "#bus"
import { withBus } from "../../../dev/fixtures/bus.ts"

const declared: ConsumerDeclaration = {
  stream: "DELIVERIES",
  durable: "endpoint-x",
  filterSubjects: ["deliveries.due.*.x"],
  unackedMax: 8,
  ackWaitMs: 5_000
}

const streams = { streams: topology.streams.filter(({ name }) => name === "DELIVERIES"), buckets: [], objectStores: [] }

describe("an existing consumer", () => {
  it.live("is kept, updated to its declaration, and stays paused", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* applyTopology(streams, { mode: "create", replicas: 1 })
        const { ensure, pause, backlog } = yield* Consumers
        const { manager } = yield* Nats
        yield* ensure(declared)
        yield* ensure(declared)
        yield* pause(declared.stream, declared.durable, 4_000_000_000_000)
        yield* ensure({ ...declared, unackedMax: 64 })

        const { config } = yield* Effect.promise(() => manager.consumers.info(declared.stream, declared.durable))
        assert.strictEqual(config.max_ack_pending, 64)
        assert.isNotNull((yield* backlog(declared.stream, declared.durable)).pausedUntilMs)
      })
    )
  )
})
