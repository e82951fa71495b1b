import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { lineLogger } from "#runtime"
import { redrive } from "#webhooks"
import { busOn } from "../../../../dev/fixtures/bus.ts"
import { later } from "../../../support/clock.ts"
import { whileDispatching } from "../../../support/dispatcher.ts"
import {
  abandoned,
  abandonments,
  arrived,
  eventsTo,
  publish,
  publishMany,
  requestsTo,
  sequencesTo,
  setUp,
  stream
} from "../../../support/webhooks.ts"

const hourMs = 3_600_000
const lines: Array<string> = []
const logging = Logger.layer([lineLogger("json", (line) => void lines.push(line))])

describe("a new endpoint", () => {
  it.live("starts now and not at the log's beginning, even when no dispatcher was running", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const old = { Name: "old", Url: receiver.url("/old") }
      yield* Effect.provide(publishMany("work_item.working", 3), busOn(server))
      yield* whileDispatching(
        server,
        { endpoints: [old] },
        Effect.andThen(publish("work_item.merged"), arrived(receiver, "/old", 1))
      )
      yield* Effect.provide(publishMany("work_item.done", 3), busOn(server))
      yield* whileDispatching(
        server,
        { endpoints: [old, { Name: "new", Url: receiver.url("/new") }] },
        Effect.gen(function* () {
          const sequence = yield* publish("work_item.failed")
          yield* arrived(receiver, "/old", 5)
          yield* arrived(receiver, "/new", 1)
          assert.deepStrictEqual(sequencesTo(receiver, "/new"), [sequence])
          assert.sameMembers(eventsTo(receiver, "/old"), [
            "work_item.merged",
            "work_item.done",
            "work_item.done",
            "work_item.done",
            "work_item.failed"
          ])
        })
      )
    })
  )
})

describe("an endpoint that is removed from the configuration", () => {
  it.live("for a day is archived with one warning, and its missed events can be sent again when it is back", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      lines.length = 0
      const stays = { Name: "stays", Url: receiver.url("/stays") }
      const goes = { Name: "goes", Url: receiver.url("/goes"), Concurrency: 1, MaxAttempts: 5, TimeoutSeconds: 60 }
      const isArchival = (line: string) => line.includes("a removed endpoint's deliveries are archived")

      // One delivery waits for its retry, the others for their turn.
      receiver.answer("/goes", (nth) => (nth === 1 ? { status: 503, headers: { "Retry-After": "60" } } : "hang"))
      yield* whileDispatching(
        server,
        { endpoints: [stays, goes] },
        Effect.andThen(publishMany("work_item.merged", 4), arrived(receiver, "/goes", 2))
      )
      receiver.answer("/goes", () => 204)
      yield* whileDispatching(
        server,
        { endpoints: [stays] },
        Effect.andThen(publish("work_item.done"), arrived(receiver, "/stays", 5))
      )
      const archive = Effect.andThen(publish("work_item.failed"), arrived(receiver, "/stays", 6))
      yield* whileDispatching(server, { endpoints: [stays] }, archive).pipe(later(23 * hourMs))
      assert.deepStrictEqual(yield* Effect.provide(stream("ABANDONED"), busOn(server)), [])
      assert.strictEqual(lines.filter(isArchival).length, 0)

      for (const hours of [25, 26]) {
        yield* whileDispatching(server, { endpoints: [stays] }, abandoned(4)).pipe(later(hours * hourMs))
      }
      const [warning, ...more] = lines.filter(isArchival)
      assert.deepInclude(JSON.parse(warning ?? "{}"), { level: "WARN", endpoint: "goes", abandoned: 4 })
      assert.deepStrictEqual(more, [])
      assert.strictEqual(requestsTo(receiver, "/goes").length, 2)

      yield* whileDispatching(
        server,
        { endpoints: [stays, goes] },
        Effect.gen(function* () {
          const reasons = yield* abandonments
          for (const reason of reasons) {
            assert.deepInclude(reason, { endpoint: "goes", reason: "the endpoint is no longer configured" })
          }
          assert.strictEqual(yield* redrive({ endpoint: "goes", events: [], countMax: 100 }), 4)
          yield* arrived(receiver, "/goes", 6)
          assert.deepStrictEqual(eventsTo(receiver, "/goes").slice(2), [
            "work_item.merged",
            "work_item.merged",
            "work_item.merged",
            "work_item.merged"
          ])
        })
      ).pipe(later(27 * hourMs))
    }).pipe(Effect.provide(logging))
  )
})
