import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  afterAttempt,
  afterFailure,
  afterNothing,
  type Breaker,
  type BreakerLimits,
  breakerPhase,
  breakerWaitMs,
  closedBreaker
} from "#runtime"

const limits: BreakerLimits = {
  failuresToOpen: 20,
  failingMsToOpen: 30_000,
  pauseMsMin: 30_000,
  pauseMsMax: 300_000
}
const failed = (breaker: Breaker, nowMs: number) => afterFailure(breaker, nowMs, limits)

const fail = (times: number, everyMs: number, from: Breaker = closedBreaker, startMs = 0) => {
  let breaker = from
  for (let index = 0; index < times; index++) breaker = failed(breaker, startMs + index * everyMs)
  return { breaker, atMs: startMs + (times - 1) * everyMs }
}

describe("a circuit breaker", () => {
  it.each([
    ["a burst of a thousand failures in a second", 1_000, 1, "closed"],
    ["nineteen failures over an hour", 19, 180_000, "closed"],
    ["twenty failures within thirty seconds", 20, 1_500, "closed"],
    ["twenty failures over thirty seconds and more", 20, 1_600, "open"]
  ] as const)("has the right state after %s", (_what, times, everyMs, expected) => {
    const { breaker, atMs } = fail(times, everyMs)
    assert.strictEqual(breakerPhase(breaker, atMs), expected)
  })

  it("forgets everything at a success", () => {
    const { breaker, atMs } = fail(19, 10_000)
    assert.strictEqual(breakerPhase(failed(closedBreaker, atMs), atMs), "closed")
    assert.strictEqual(breakerPhase(failed(breaker, atMs), atMs), "open")
  })

  it("is open for 30 s, then half-open; a failed probe opens it for twice as long, up to 5 min", () => {
    let { breaker, atMs } = fail(20, 2_000)
    for (const pauseMs of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      assert.strictEqual(breakerPhase(breaker, atMs + pauseMs - 1), "open")
      assert.strictEqual(breakerPhase(breaker, atMs + pauseMs), "half-open")
      atMs += pauseMs
      breaker = failed(breaker, atMs)
    }
  })

  it("does not count calls under way at its opening as probes", () => {
    const { breaker, atMs } = fail(20, 2_000)
    const later = failed(breaker, atMs + 10)
    assert.strictEqual(later.openUntilMs, breaker.openUntilMs)
    assert.strictEqual(later.trips, 1)
  })

  it.prop(
    "never opens within the first thirty seconds of trouble",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 29_999 })))],
    ([times]) => {
      let breaker = closedBreaker
      for (const atMs of times.toSorted((left, right) => left - right)) {
        breaker = failed(breaker, atMs)
        assert.strictEqual(breakerPhase(breaker, atMs), "closed")
      }
    }
  )

  it("lets others wait during one probe, for at most the probe's maximum", () => {
    const { breaker, atMs } = fail(20, 2_000)
    const halfOpenAtMs = atMs + 30_000
    assert.strictEqual(breakerWaitMs(breaker, halfOpenAtMs), 0)
    const probing = afterAttempt(breaker, halfOpenAtMs, 5_000)
    assert.strictEqual(breakerWaitMs(probing, halfOpenAtMs + 1), 1_000)
    assert.strictEqual(breakerWaitMs(probing, halfOpenAtMs + 4_900), 100)
    assert.strictEqual(breakerWaitMs(probing, halfOpenAtMs + 5_000), 0)
  })

  it("admits another probe when the first had no outcome", () => {
    const { breaker, atMs } = fail(20, 2_000)
    const probing = afterAttempt(breaker, atMs + 30_000, 5_000)
    assert.strictEqual(breakerWaitMs(afterNothing(probing), atMs + 30_001), 0)
  })

  it("treats an attempt as usual while it is closed", () => {
    assert.strictEqual(afterAttempt(closedBreaker, 5, 1_000), closedBreaker)
  })
})
