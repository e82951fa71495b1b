import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { rateLimitHeaders } from "#http"
import { giveBackToLog, type RateLog, takeFromLog } from "../../../../libs/http/rate-limit/rate-log.ts"
import { rememberedRefusals } from "../../../../libs/http/rate-limit/shared-window.ts"

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

describe("remembered refusals", () => {
  it("hold for at most a second, and never longer than the refusal", () => {
    const refusals = rememberedRefusals(2)
    const refusal = (resetAtMs: number) =>
      ({ _tag: "Refused", limit: 2, remaining: 0, resetMs: 0, resetAtMs, retryAfterMs: 0 }) as const
    refusals.remember("a", refusal(10_000), 1_000)
    refusals.remember("b", refusal(1_200), 1_000)
    assert.deepInclude(refusals.find("a", 1_999), { _tag: "Some" })
    assert.deepInclude(refusals.find("a", 2_000), { _tag: "None" })
    assert.deepInclude(refusals.find("b", 1_200), { _tag: "None" })
    refusals.forget("a")
    assert.deepInclude(refusals.find("a", 1_500), { _tag: "None" })
  })

  it("are bounded in number", () => {
    const refusals = rememberedRefusals(2)
    const refusal = { _tag: "Refused", limit: 2, remaining: 0, resetMs: 0, resetAtMs: 9_000, retryAfterMs: 0 } as const
    for (let n = 0; n <= 10_000; n++) refusals.remember(`k${n}`, refusal, 1_000)
    assert.deepInclude(refusals.find("k0", 1_000), { _tag: "None" })
    assert.deepInclude(refusals.find("k10000", 1_000), { _tag: "Some" })
  })
})
