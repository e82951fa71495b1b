import { assert, describe, it } from "@effect/vitest"
import { afterAttempt, afterFailure, type Breaker, breakerWaitMs, closedBreaker } from "#runtime"
import { nodeBreakerLimits } from "../../../../libs/payments/chains/json-rpc.ts"

const failed = (breaker: Breaker, nowMs: number) => afterFailure(breaker, nowMs, nodeBreakerLimits)

const failing = (times: number, nowMs = 1_000) => {
  let breaker = closedBreaker
  for (let time = 0; time < times; time += 1) breaker = failed(breaker, nowMs)
  return breaker
}

describe("a failing node", () => {
  it("is still called after four failures in a row, and skipped after five", () => {
    assert.strictEqual(breakerWaitMs(failing(4), 1_000), 0)
    assert.isAbove(breakerWaitMs(failing(5), 1_000), 0)
  })

  it("gets one trial call alone after half a second", () => {
    const open = failing(5)
    assert.isAbove(breakerWaitMs(open, 1_499), 0)
    assert.strictEqual(breakerWaitMs(open, 1_500), 0)

    const triedOut = afterAttempt(open, 1_500, 5_000)

    assert.isAbove(breakerWaitMs(triedOut, 1_501), 0)
    assert.strictEqual(breakerWaitMs(triedOut, 6_500), 0)
  })

  it("is skipped for twice as long with each failed trial, up to fifteen seconds", () => {
    let breaker = failing(5)
    let nowMs = 1_000
    for (const waitMs of [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) {
      assert.strictEqual(breakerWaitMs(breaker, nowMs), waitMs)
      nowMs += waitMs
      breaker = failed(afterAttempt(breaker, nowMs, 5_000), nowMs)
    }
  })

  it("is skipped no longer for calls that were under way when its breaker opened", () => {
    assert.strictEqual(breakerWaitMs(failing(5_000), 1_000), 500)
  })
})
