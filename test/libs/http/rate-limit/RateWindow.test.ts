import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { rateWindow, takeFrom } from "#http"

describe("a rate window of one process", () => {
  it.effect("grants a key its limit, and says exactly when there is room again", () =>
    Effect.gen(function* () {
      const { take } = rateWindow({ name: "tries", limit: 2, windowMs: 1_000 })
      yield* TestClock.setTime(100)
      assert.deepInclude(yield* take("a"), { _tag: "Taken", remaining: 1 })
      yield* TestClock.setTime(200)
      assert.deepInclude(yield* take("a"), { _tag: "Taken", remaining: 0 })
      yield* TestClock.setTime(600)
      assert.deepInclude(yield* take("a"), { _tag: "Refused", limit: 2, resetAtMs: 1_100, retryAfterMs: 500 })
      assert.deepInclude(yield* take("b"), { _tag: "Taken" })
      yield* TestClock.setTime(1_100)
      assert.deepInclude(yield* take("a"), { _tag: "Taken" })
      assert.deepInclude(yield* take("a"), { _tag: "Refused", retryAfterMs: 100 })
    })
  )

  it.effect("keeps a bounded number of keys and forgets the one unused for longest", () =>
    Effect.gen(function* () {
      const { take } = rateWindow({ name: "tries", limit: 1, windowMs: 1_000, keysMax: 3 })
      for (const key of ["a", "b", "c", "d"]) {
        yield* take(key)
        yield* TestClock.adjust(1)
      }
      assert.deepInclude(yield* take("d"), { _tag: "Refused" })
      assert.deepInclude(yield* take("a"), { _tag: "Taken" })
    })
  )

  it.effect("gives a place back", () =>
    Effect.gen(function* () {
      const { take, giveBack } = rateWindow({ name: "tries", limit: 1, windowMs: 1_000 })
      const taken = yield* take("a")
      assert.deepInclude(yield* take("a"), { _tag: "Refused" })
      if (taken._tag === "Taken") yield* giveBack("a", taken)
      assert.deepInclude(yield* take("a"), { _tag: "Taken" })
    })
  )
})

describe("several rate windows", () => {
  it.effect("are taken together or not at all, and report the longest wait", () =>
    Effect.gen(function* () {
      const minute = rateWindow({ name: "per_minute", limit: 2, windowMs: 60_000 })
      const day = rateWindow({ name: "per_day", limit: 3, windowMs: 86_400_000 })
      const take = Effect.result(takeFrom([minute, day], "w"))
      yield* take
      yield* take
      const refused = yield* take
      assert.isTrue(Result.isFailure(refused))
      if (Result.isSuccess(refused)) return
      assert.deepInclude(refused.failure, { status: 429, code: "rate_limited" })
      assert.deepStrictEqual(refused.failure.details, { source: "per_minute", retry_after_seconds: 60 })
      assert.strictEqual(refused.failure.headers?.["ratelimit-limit"], "2")
      yield* TestClock.adjust("61 seconds")
      assert.isTrue(Result.isSuccess(yield* take), "the refusal took nothing from the day")
      const forTheDay = yield* take
      assert.isTrue(Result.isFailure(forTheDay) && forTheDay.failure.details?.["source"] === "per_day")
    })
  )
})
