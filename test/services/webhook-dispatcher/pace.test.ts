import { assert, describe, it } from "@effect/vitest"
import { newPace } from "../../../services/webhook-dispatcher/pace.ts"

describe("a pace", () => {
  it("spaces slots evenly, and saves none up", () => {
    const { takeMs } = newPace()
    const slots = [0, 0, 10, 50, 1_000, 1_000].map((nowMs) => nowMs + takeMs({ perSecond: 10, nowMs }))
    assert.deepStrictEqual(slots, [0, 100, 200, 300, 1_000, 1_100])
  })

  it("follows a rate that changes", () => {
    const { takeMs } = newPace()
    const rates = [10, 10, 1, 1, 100, 100]
    assert.deepStrictEqual(
      rates.map((perSecond) => takeMs({ perSecond, nowMs: 0 })),
      [0, 100, 200, 1_200, 2_200, 2_210]
    )
  })
})
