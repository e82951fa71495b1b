import { assert, describe, it } from "@effect/vitest"
import { depthFor, noDemand, withArrival } from "../../../../../libs/speech/audio/encoders/idle.ts"

const limits = { startSeconds: 0.07, depthMin: 0, depthMax: 12 }

const arrivals = (perSecond: number, seconds: number) => {
  let demand = noDemand
  const count = perSecond * seconds
  for (let at = 1; at <= count; at++) demand = withArrival(demand, 1_000_000 + (at * 1_000) / perSecond)
  return { demand, nowMs: 1_000_000 + seconds * 1_000 }
}

describe("encoders held ready", () => {
  it("are none without any request, except the configured minimum", () => {
    assert.strictEqual(depthFor(noDemand, 1_000_000, limits), 0)
    assert.strictEqual(depthFor(noDemand, 1_000_000, { ...limits, depthMin: 1 }), 1)
  })

  it.each([
    [1, 1],
    [5, 2],
    [20, 4],
    [100, 12]
  ])("are for %i requests a second: %i", (perSecond, depth) => {
    const { demand, nowMs } = arrivals(perSecond, 60)
    assert.strictEqual(depthFor(demand, nowMs, limits), depth)
  })

  it("are never more than the maximum", () => {
    const { demand, nowMs } = arrivals(500, 10)
    assert.strictEqual(depthFor(demand, nowMs, { ...limits, startSeconds: 2 }), 12)
    assert.strictEqual(depthFor(demand, nowMs, { ...limits, depthMax: 0 }), 0)
  })

  it("stay at one for a while after a single request, and then end", () => {
    const demand = withArrival(noDemand, 1_000_000)
    assert.strictEqual(depthFor(demand, 1_030_000, limits), 1)
    assert.strictEqual(depthFor(demand, 1_090_000, limits), 0)
  })
})
