import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Schema } from "effect"
import { jsonCodec, Requests } from "#bus"
import { Metrics } from "#runtime"
import { eventually, withBus } from "../../../dev/fixtures/bus.ts"
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
