import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Schema } from "effect"
import { applyTopology, consume, done, jsonCodec, Publisher, Requests, scheduleHeaders, topology } from "#bus"
import { withBus } from "../../support/bus.ts"
import { consumer, note, trial } from "./trial.ts"

describe("publishing", () => {
  it.live("tells where a message is stored, and stores an id once", () =>
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

  it.live("is refused by a full stream, by a stale sequence, and by nobody listening, each by its name", () =>
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
              Effect.flatMap(Clock.currentTimeMillis, (atMs) => Effect.as(Deferred.succeed(arrived, atMs), done))
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

describe("questions between roles", () => {
  it.live("are answered by one of the group; nobody there is known at once; a bad one is refused", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const requests = yield* Requests
          const ask = { subject: "ask.me", question: note, answer: note, timeoutMs: 2_000 }
          const nobody = yield* Effect.flip(requests.ask(ask, { text: "hello?" }))
          assert.strictEqual(nobody._tag, "BusUnavailable")
          yield* requests.answer({
            subject: "ask.me",
            queueGroup: "answerers",
            question: note,
            answer: note,
            concurrency: 4,
            handler: ({ text }) => Effect.succeed({ text: text.toUpperCase() })
          })
          assert.deepStrictEqual(yield* requests.ask(ask, { text: "hello" }), { text: "HELLO" })
          const wrong = { ...ask, question: jsonCodec(Schema.Struct({ text: Schema.Finite })) }
          assert.strictEqual((yield* Effect.flip(requests.ask(wrong, { text: 7 })))._tag, "BusRefused")
        }),
      trial
    )
  )
})

describe("the topology", () => {
  it.live("is created once, left alone the second time, and every difference is named when only verified", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* applyTopology(topology, { mode: "create", replicas: 1 })
        yield* applyTopology(topology, { mode: "verify", replicas: 1 })
        const wrong = yield* Effect.flip(applyTopology(trial, { mode: "verify", replicas: 1 }))
        assert.strictEqual(wrong._tag, "TopologyMismatch")
        assert.include(wrong.message, "stream WORK does not exist")
      })
    )
  )
})
