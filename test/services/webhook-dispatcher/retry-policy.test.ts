import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  AttemptResult,
  decide,
  longestWaitMs,
  type RetrySettings,
  retryWaits
} from "../../../services/webhook-dispatcher/retry-policy.ts"

const keys = { RetrySchedule: "exponential", MaxAttempts: 4, InitialBackoffSeconds: 1, Jitter: 0 } as const
const settings: RetrySettings = { ...retryWaits(keys), retryAfterMsMax: 60_000 }
const nowMs = Date.UTC(2026, 10, 20, 12)
const answered = (status: number, retryAfter?: string) => AttemptResult.Answered({ status, retryAfter })
const delayOf = (result: AttemptResult, attempt: number, given: Partial<RetrySettings> = {}, random = 0) => {
  const decision = decide(result, { attempt, settings: { ...settings, ...given }, nowMs, random })
  return decision._tag === "Retry" ? decision.delayMs : decision._tag
}

describe("the outcome of an attempt", () => {
  it.each([200, 201, 202, 204, 299])("is delivered on %i", (status) => {
    assert.strictEqual(decide(answered(status), { attempt: 1, settings, nowMs, random: 0 })._tag, "Delivered")
  })

  it.each([100, 199, 300, 301, 302, 304, 400, 401, 404, 408, 409, 429, 500, 502, 503, 504])(
    "is a retry on %i",
    (status) => assert.strictEqual(delayOf(answered(status), 1), 1_000)
  )

  it("is a retry without an answer", () => {
    assert.strictEqual(delayOf(AttemptResult.NotAnswered({ error: "timeout" }), 1), 1_000)
  })

  it("waits exactly 1, 2, 4 times the initial backoff, then gives up", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4].map((attempt) => delayOf(answered(500), attempt)),
      [1_000, 2_000, 4_000, "GiveUp"]
    )
  })

  it("stops permanently on 410, whatever attempts are left", () => {
    assert.strictEqual(delayOf(answered(410), 1), "Gone")
    assert.strictEqual(delayOf(answered(410), 4), "Gone")
  })

  it.each([
    [429, "5", 5_000],
    [503, "5", 5_000],
    [500, "5", 1_000],
    [429, "0", 1_000],
    [429, "100000", 60_000],
    [429, "Fri, 20 Nov 2026 12:00:07 GMT", 7_000],
    [429, "Friday, 20-Nov-26 12:00:07 GMT", 7_000],
    [429, "Fri Nov 20 12:00:07 2026", 7_000],
    [503, "Fri, 20 Nov 2026 11:00:00 GMT", 1_000],
    [429, "9999999999", 60_000],
    [503, "9".repeat(400), 60_000],
    [429, "soon", 1_000],
    [429, "-5", 1_000],
    [429, "1e9", 1_000]
  ])("on %i with Retry-After %s waits %i ms", (status, retryAfter, expected) => {
    assert.strictEqual(delayOf(answered(status, retryAfter), 1), expected)
  })

  it.prop(
    "never comes sooner than the doubling rule, nor later than jitter and the cap allow",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 19 })),
      Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 0.999 })),
      Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
    ],
    ([attempt, random, jitter]) => {
      const delay = delayOf(answered(500), attempt, retryWaits({ ...keys, MaxAttempts: 20, Jitter: jitter }), random)
      const least = 1_000 * 2 ** (attempt - 1)
      assert.isTrue(typeof delay === "number" && delay >= least - 1 && delay <= least * (1 + jitter) + 1)
    }
  )

  it("spreads nine attempts of the patient schedule over more than two days, each wait longer than the previous one", () => {
    const { waitsMs, jitter } = retryWaits({ ...keys, RetrySchedule: "patient" })
    assert.strictEqual(waitsMs.length + 1, 9)
    assert.deepStrictEqual(
      waitsMs,
      waitsMs.toSorted((left, right) => left - right)
    )
    const hours = waitsMs.reduce((sum, ms) => sum + ms, 0) / 3_600_000
    assert.isTrue(hours > 48 && hours * (1 + jitter) < 72)
    assert.isAbove(jitter, 0)
    assert.strictEqual(delayOf(answered(500), 9, { waitsMs }), "GiveUp")
  })

  it("waits no longer than the last wait with all of its jitter, or than a receiver may ask for", () => {
    const waits = { waitsMs: [1_000, 4_000], jitter: 0.5, retryAfterMsMax: 0 }
    assert.deepStrictEqual([longestWaitMs(waits), longestWaitMs({ ...waits, retryAfterMsMax: 6_001 })], [6_000, 6_001])
  })

  it("is tried again after 5 s, 5 and 30 min, and 2, 5, 10, 14 and 20 h by the patient schedule", () => {
    const { waitsMs } = retryWaits({ ...keys, RetrySchedule: "patient" })
    assert.deepStrictEqual(
      waitsMs.map((ms) => ms / 1_000),
      [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000]
    )
  })
})
