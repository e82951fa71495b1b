import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { applyTopology, type ConsumerDeclaration, Consumers, Nats, readyConsumer, topology } from "#bus"
import { reportsInWorkMax } from "#base"
import { withBus } from "../../../dev/fixtures/bus.ts"

const declared: ConsumerDeclaration = {
  stream: "DELIVERIES",
  durable: "endpoint-x",
  filterSubjects: ["deliveries.due.*.x"],
  unackedMax: 8,
  ackWaitMs: 5_000
}

const streams = { streams: topology.streams.filter(({ name }) => name === "DELIVERIES"), buckets: [], objectStores: [] }

const withReports = {
  streams: topology.streams.filter(({ name }) => name === "REPORTS"),
  buckets: [],
  objectStores: []
}
const reports = readyConsumer("REPORTS", "pipeline-api")

describe("a consumer that is made with its stream", () => {
  it.live("is as declared once the streams are, and whoever takes from it only looks for it", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const { ensure, remove, names } = yield* Consumers
          const { manager } = yield* Nats
          const { config } = yield* Effect.promise(() => manager.consumers.info(reports.stream, reports.durable))
          assert.strictEqual(config.max_ack_pending, reportsInWorkMax)
          yield* ensure({ ...reports, unackedMax: 1 })
          const after = yield* Effect.promise(() => manager.consumers.info(reports.stream, reports.durable))
          assert.deepStrictEqual(after.config, config)

          yield* remove(reports.stream, reports.durable)
          const { message } = yield* Effect.flip(ensure(reports))
          assert.match(
            message,
            /^could not look for consumer pipeline-api: consumer not found; who makes the stream REPORTS makes its consumer pipeline-api too$/u
          )
          assert.isEmpty(yield* names(reports.stream))
        }),
      withReports
    )
  )

  it.live("is named by whoever waits for the streams, when it is missing or another", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const { ensure, remove } = yield* Consumers
          const { isReady: _, ...own } = reports
          const verify = applyTopology(withReports, { mode: "verify", replicas: 1 })
          yield* verify
          // Of the release before, and bounded by its setting.
          yield* ensure({ ...own, unackedMax: 64, ackWaitMs: 30_000 })
          yield* verify
          yield* ensure({ ...own, ackWaitMs: 1_000 })
          const other = yield* Effect.flip(verify)
          assert.include(other.message, "consumer pipeline-api of REPORTS: ack_wait is 1000000000, declared 5000000000")
          yield* applyTopology(withReports, { mode: "create", replicas: 1 })
          yield* verify
          yield* remove(reports.stream, reports.durable)
          const missing = yield* Effect.flip(verify)
          assert.include(missing.message, "consumer pipeline-api of REPORTS does not exist")
        }),
      withReports
    )
  )
})

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
