import { assert, describe, it } from "@effect/vitest"
import { asked, type Breaker, failed, healthy, isOpen, mayAsk } from "../../../../../libs/x402/chains/json-rpc.ts"

const failing = (times: number, nowMs = 1_000) => {
  let breaker: Breaker = healthy
  for (let time = 0; time < times; time += 1) breaker = failed(breaker, nowMs)
  return breaker
}

describe("a node that fails", () => {
  it("is asked on after four failures in a row, and left alone after five", () => {
    assert.isTrue(mayAsk(failing(4), 1_000))
    assert.isFalse(mayAsk(failing(5), 1_000))
  })

  it("is tried out by one call alone after half a second", () => {
    const open = failing(5)
    assert.isFalse(mayAsk(open, 1_499))
    assert.isTrue(mayAsk(open, 1_500))

    const triedOut = asked(open, 1_500, 5_000)

    assert.isFalse(mayAsk(triedOut, 1_501))
    assert.isTrue(mayAsk(triedOut, 6_500))
  })

  it.each([
    [6, 1_000],
    [7, 2_000],
    [9, 8_000],
    [10, 15_000],
    [5_000, 15_000]
  ])("after %d failures is left alone for %d ms", (times, waitMs) => {
    assert.strictEqual(failing(times).closedAtMs, 1_000 + waitMs)
    assert.isTrue(isOpen(failing(times)))
  })

  it("is asked by everybody as long as it is healthy", () => {
    assert.strictEqual(asked(healthy, 5, 1_000), healthy)
  })
})
