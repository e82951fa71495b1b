import { assert, describe, it } from "@effect/vitest"
import { makeRecent, quantileOf, recentMs } from "../../../../services/speech-api/speaking/recent.ts"

describe("what was observed lately", () => {
  it("forgets what is older than five minutes", () => {
    const recent = makeRecent()
    recent.note(0, 1)
    recent.note(recentMs, 2)
    assert.deepStrictEqual(recent.values(recentMs), [1, 2])
    assert.deepStrictEqual(recent.values(recentMs + 1), [2])
  })

  it("keeps no more than the newest 1,024", () => {
    const recent = makeRecent()
    for (let index = 0; index < 10_000; index += 1) recent.note(0, index)
    const values = recent.values(0)
    assert.deepStrictEqual([values.length, values[0], values.at(-1)], [1_024, 8_976, 9_999])
  })

  it.each([
    [[], 0.5, null],
    [[7], 0.95, 7],
    [[4, 1, 3, 2], 0.5, 2],
    [Array.from({ length: 100 }, (_, index) => index + 1), 0.95, 95]
  ] as const)("has of %j at %d the value %j", (values, part, wanted) => {
    assert.strictEqual(quantileOf(values, part), wanted)
  })
})
