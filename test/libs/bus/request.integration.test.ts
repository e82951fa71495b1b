import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Schema } from "effect"
import { jsonCodec, Requests } from "#bus"
import { Nats } from "../../../libs/bus/connection/connection.ts"
import { Metrics } from "#runtime"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { note, trial } from "./trial.ts"

const ask = { subject: "ask.me", question: note, answer: note, timeoutMs: 5_000 }

describe("requests to a responder", () => {
  it.live("are rejected and counted at once above its concurrency", () =>
    withBus(() =>
      Effect.gen(function* () {
        const requests = yield* Requests
        const goOn = yield* Latch.make()
        let begun = 0
        yield* requests.answer({
          subject: "ask.*",
          queueGroup: "answerers",
          question: note,
          answer: note,
          concurrency: 2,
          waitingMax: 3,
          handler: (question) =>
            Effect.andThen(
              Effect.sync(() => void (begun += 1)),
              Effect.as(goOn.await, question)
            )
        })
        const asked = yield* Effect.forkChild(
          Effect.forEach([1, 2, 3, 4, 5, 6, 7], (n) => Effect.result(requests.ask(ask, { text: `${n}` })), {
            concurrency: "unbounded"
          })
        )
        const counted = Effect.map((yield* Metrics).text, (text) =>
          /^bus_questions_turned_away_total\{.*subject="ask\.\*".*\} 2$/mu.test(text)
        )
        yield* eventually(counted)
        assert.strictEqual(begun, 2)

        yield* goOn.open
        const answers = yield* Fiber.join(asked)
        const failures = answers.flatMap((answer) => (answer._tag === "Failure" ? [answer.failure] : []))
        assert.strictEqual(answers.length - failures.length, 5)
        for (const failure of failures) {
          assert.strictEqual(failure._tag, "BusUnavailable")
          assert.include(failure.message, "5 questions are being answered")
        }

        // Those that were answered have left: there is room again.
        assert.deepStrictEqual(yield* requests.ask(ask, { text: "again" }), { text: "again" })
      })
    )
  )
})

describe("questions between roles", () => {
  it.live(
    "get an answer from one of the group; a missing responder is reported at once; a bad request is refused",
    () =>
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

describe("a question whose answerer tells that it is at work", () => {
  const silence = (onSilence: Effect.Effect<void> = Effect.void) => ({ silence: { msMax: 1_200, onSilence } })
  const answerer = { subject: "ask.me", queueGroup: "answerers", question: note, answer: note, concurrency: 1 }

  it.live("is put once, however long it takes, also while it waits for its turn", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const requests = yield* Requests
          let [begun, silences] = [0, 0]
          yield* requests.answer({
            ...answerer,
            handler: (question) =>
              Effect.andThen(
                Effect.sync(() => void (begun += 1)),
                Effect.delay(Effect.succeed(question), "1600 millis")
              )
          })
          const asking = { ...ask, ...silence(Effect.sync(() => void (silences += 1))) }
          const answers = yield* Effect.forEach(["one", "two"], (text) => requests.ask(asking, { text }), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(answers, [{ text: "one" }, { text: "two" }])
          assert.deepStrictEqual([begun, silences], [2, 0])
        }),
      trial
    )
  )

  it.live("is put again, to another one, when nothing is heard; and fails when there is none", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const requests = yield* Requests
          const { connection } = yield* Nats
          let silences = 0
          const asking = { ...ask, ...silence(Effect.sync(() => void (silences += 1))) }
          const mute = connection.subscribe("ask.me", {
            queue: "answerers",
            callback: () => mute.unsubscribe()
          })
          const failure = yield* Effect.flip(requests.ask(asking, { text: "hello?" }))
          assert.strictEqual(failure._tag, "BusUnavailable")
          assert.include(failure.message, "no responders")
          assert.strictEqual(silences, 1)

          const again = connection.subscribe("ask.me", {
            queue: "answerers",
            callback: () => again.unsubscribe()
          })
          const asked = yield* Effect.forkChild(requests.ask(asking, { text: "hello" }))
          yield* eventually(() => again.getReceived(), { is: 1 })
          yield* requests.answer({ ...answerer, handler: ({ text }) => Effect.succeed({ text: text.toUpperCase() }) })
          assert.deepStrictEqual(yield* Fiber.join(asked), { text: "HELLO" })
          assert.strictEqual(silences, 2)
        }),
      trial
    )
  )

  it.live("fails when its time is over, whatever is heard", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const requests = yield* Requests
          yield* requests.answer({ ...answerer, handler: () => Effect.never })
          const failure = yield* Effect.flip(requests.ask({ ...ask, timeoutMs: 1_500, ...silence() }, { text: "now?" }))
          assert.strictEqual(failure._tag, "BusUnavailable")
          assert.include(failure.message, "no answer within 1500 ms")
        }),
      trial
    )
  )
})
