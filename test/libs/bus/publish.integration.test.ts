import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect } from "effect"
import { type BatchMessage, consume, ack, header, Publisher, scheduleHeaders } from "#bus"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { consumer, note, trial } from "./trial.ts"

const told = (id: string): BatchMessage => ({
  subject: "log.project.garden",
  data: new TextEncoder().encode("{}"),
  headers: [[header.messageId, id]]
})

describe("a batch", () => {
  it.live("is a conflict when a twin already stored one of its messages", () =>
    withBus(() =>
      Effect.gen(function* () {
        const publisher = yield* Publisher
        const { sequence } = yield* publisher.publishRaw("log.project.garden", told("log.7.0").data, {
          messageId: "log.7.0"
        })

        const late = yield* Effect.flip(publisher.publishTogether([told("log.7.0"), told("log.8.0")]))
        assert.strictEqual(late._tag, "RevisionConflict")

        // Nothing of it was stored.
        assert.strictEqual(yield* publisher.publishTogether([told("log.8.0"), told("log.9.0")]), sequence + 2)
      })
    )
  )
})

describe("publishing", () => {
  it.live("returns the message's position, and stores an id once", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const first = yield* publisher.publish("work.a", note, { text: "hello" }, { messageId: "1" })
          const again = yield* publisher.publish("work.a", note, { text: "hello" }, { messageId: "1" })
          assert.deepInclude(first, { stream: "WORK", sequence: 1, duplicate: false })
          assert.deepInclude(again, { sequence: 1, duplicate: true })
        }),
      trial
    )
  )

  it.live("reports a full stream, a stale sequence, and a missing responder, each by its name", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const large = new Uint8Array(700)
          yield* publisher.publishRaw("small.a", large)
          assert.strictEqual((yield* Effect.flip(publisher.publishRaw("small.a", large)))._tag, "StreamFull")
          const stale = publisher.publishRaw("work.a", large, { expectedLastSubjectSequence: 99 })
          assert.strictEqual((yield* Effect.flip(stale))._tag, "RevisionConflict")
          assert.strictEqual((yield* Effect.flip(publisher.publishRaw("nowhere", large)))._tag, "BusUnavailable")
        }),
      trial
    )
  )
})

describe("a schedule", () => {
  it.live("moves a message to its target at its time, not before", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const arrived = yield* Deferred.make<number>()
          yield* consume({
            consumer: { ...consumer, filterSubjects: ["work.due"] },
            codec: note,
            origin: "trial",
            handler: () =>
              Effect.flatMap(Clock.currentTimeMillis, (atMs) => Effect.as(Deferred.succeed(arrived, atMs), ack))
          })
          const dueAtMs = (yield* Clock.currentTimeMillis) + 1_500
          yield* publisher.publish(
            "work.wait.1",
            note,
            { text: "later" },
            { headers: scheduleHeaders(dueAtMs, "work.due") }
          )
          const atMs = yield* Deferred.await(arrived)
          assert.isTrue(atMs >= dueAtMs - 300 && atMs < dueAtMs + 1_000, `${atMs - dueAtMs} ms off`)
        }),
      trial
    )
  )
})
