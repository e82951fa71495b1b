import { assert, describe, it } from "@effect/vitest"
import { chanceOf } from "../../load-tests/seeded.ts"
import { slopeOf } from "../../load-tests/slope.ts"

const series = (count: number, at: (index: number) => number) => Array.from({ length: count }, (_, index) => at(index))

describe("the slope of memory over time", () => {
  it("is exact for a straight line", () => {
    const { perHour, margin } = slopeOf(
      series(600, (index) => 200 + (index / 600) * 30),
      0.5
    )
    assert.closeTo(perHour, 60, 0.1)
    assert.isBelow(margin, 0.1)
  })

  it("of a sawtooth without a trend is zero within its margin", () => {
    const { perHour, margin } = slopeOf(
      series(720, (index) => 300 + (index % 37)),
      1
    )
    assert.isBelow(Math.abs(perHour), margin + 0.5)
  })

  it("has the true slope within its margin about as often as it says", () => {
    const chance = chanceOf(7)
    const trials = series(400, () => {
      const { perHour, margin } = slopeOf(
        series(240, (index) => 100 + (index / 240) * 20 + 30 * chance.next()),
        1
      )
      return Math.abs(perHour - 20) <= margin ? 1 : 0
    })
    const held = trials.reduce((sum, one) => sum + one, 0) / trials.length
    assert.isAbove(held, 0.9)
    assert.isBelow(held, 0.99)
  })

  it("is not a number for too few samples", () => {
    assert.isNaN(slopeOf([1, 2, 3], 1).perHour)
  })
})

describe("seeded chance", () => {
  it("repeats with its seed, and differs with another", () => {
    const drawn = (seed: number) => {
      const { next } = chanceOf(seed)
      return series(50, () => next())
    }
    assert.deepStrictEqual(drawn(3), drawn(3))
    assert.notDeepEqual(drawn(3), drawn(4))
    for (const value of drawn(3)) assert.isTrue(value >= 0 && value < 1)
  })

  it("chooses each of several about as often", () => {
    const { among } = chanceOf(1)
    const counts = new Map<string, number>()
    for (let draw = 0; draw < 3_000; draw++) {
      const chosen = among(["a", "b", "c"])
      counts.set(chosen, (counts.get(chosen) ?? 0) + 1)
    }
    for (const count of counts.values()) assert.closeTo(count, 1_000, 120)
  })
})
