import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Recording } from "#speech/audio"
import { openSpeakerThread } from "../../../../../../libs/speech/cloning/consent/SpeakerCheck.ts"

const saying = (order: number): Recording => ({
  samples: Int16Array.of(order),
  seconds: 1,
  levels: { silenceRatio: 0, clippingRatio: 0 }
})

const thread = Effect.map(
  openSpeakerThread({
    entry: new URL("./odd-thread.ts", import.meta.url),
    model: "",
    answerMsMax: 2_000
  }),
  ({ ask }) =>
    (order: number) =>
      ask(saying(order), saying(0))
)

describe("the thread of a speaker check", () => {
  it.live.each([
    ["dies", -1, "failed", /ended with code 3/u],
    ["hangs", -2, "timeout", /no answer within 2000 ms/u]
  ] as const)("that %s fails its request, and answers the next one", ([, order, reason, message]) =>
    Effect.gen(function* () {
      const ask = yield* thread
      assert.strictEqual(yield* ask(7), 7)
      const error = yield* Effect.flip(ask(order))
      assert.strictEqual(error.reason, reason)
      assert.match(error.message, message)
      assert.strictEqual(yield* ask(8), 8)
    }).pipe(Effect.scoped)
  )

  it.live("that cannot measure one pair measures the next", () =>
    Effect.gen(function* () {
      const ask = yield* thread
      const error = yield* Effect.flip(ask(-3))
      assert.match(error.message, /not this one/u)
      assert.strictEqual(yield* ask(9), 9)
    }).pipe(Effect.scoped)
  )

  it.live("continues for others when one caller leaves", () =>
    Effect.gen(function* () {
      const ask = yield* thread
      const leaving = yield* Effect.forkChild(ask(1))
      yield* Fiber.interrupt(leaving)
      assert.strictEqual(yield* ask(2), 2)
    }).pipe(Effect.scoped)
  )
})
