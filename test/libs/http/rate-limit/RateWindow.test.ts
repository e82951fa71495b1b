import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { rateLimitHeaders, rateWindow } from "#http"
import { giveBackToLog, type RateLog, takeFromLog } from "../../../../libs/http/rate-limit/RateWindow.ts"

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

const rule = { limit: 2, windowMs: 1_000 }

describe("a sliding window", () => {
  it("grants its limit, and says to the millisecond when there is room again", () => {
    const first = takeFromLog([], rule, 100)
    assert.deepStrictEqual(first.decision, { _tag: "Taken", limit: 2, remaining: 1, resetMs: 1_000, takenAtMs: 100 })
    const second = takeFromLog(first.log, rule, 600)
    assert.deepStrictEqual(second.decision, { _tag: "Taken", limit: 2, remaining: 0, resetMs: 500, takenAtMs: 600 })
    const third = takeFromLog(second.log, rule, 900)
    const refused = { _tag: "Refused", limit: 2, remaining: 0, resetMs: 200, resetAtMs: 1_100, retryAfterMs: 200 }
    assert.deepStrictEqual(third.decision, refused as never)
    assert.strictEqual(takeFromLog(third.log, rule, 1_099).decision._tag, "Refused")
    assert.deepInclude(takeFromLog(third.log, rule, 1_100).decision, { _tag: "Taken", remaining: 0, resetMs: 500 })
    if (third.decision._tag === "Refused") {
      assert.deepStrictEqual(rateLimitHeaders(third.decision), {
        "ratelimit-limit": "2",
        "ratelimit-remaining": "0",
        "ratelimit-reset": "1"
      })
    }
  })

  it("keeps its order when another replica's clock is ahead, and returns exactly the taken places", () => {
    const ahead = takeFromLog([5_000], rule, 4_900)
    assert.deepStrictEqual(ahead.log, [5_000, 5_000])
    assert.deepStrictEqual(giveBackToLog([1, 2, 2, 3], 2), [1, 2, 3])
    assert.deepStrictEqual(giveBackToLog([1, 3], 2), [1, 3])
  })

  const Steps = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 })))
  const Limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
  it.prop("never grants more in any stretch, nor refuses longer than it says", [Steps, Limit], ([steps, limit]) => {
    let log: RateLog = []
    let nowMs = 0
    const passed: Array<number> = []
    for (const step of steps) {
      nowMs += step
      const { decision, log: next } = takeFromLog(log, { limit, windowMs: 1_000 }, nowMs)
      if (decision._tag === "Taken") {
        passed.push(nowMs)
        log = next
        assert.isAtMost(log.length, limit)
      } else {
        const then = { limit, windowMs: 1_000 }
        assert.strictEqual(takeFromLog(log, then, nowMs + decision.retryAfterMs).decision._tag, "Taken")
        assert.strictEqual(takeFromLog(log, then, nowMs + decision.retryAfterMs - 1).decision._tag, "Refused")
      }
    }
    for (const from of passed) {
      assert.isAtMost(passed.filter((at) => at >= from && at < from + 1_000).length, limit)
    }
  })
})
