import { assert, describe, it } from "@effect/vitest"
import { byQuality } from "#speech/contract"

describe("the quality of voices", () => {
  it("puts the better ones first, and those that nobody judged before the basic ones", () => {
    const voices = [{ quality: "basic" }, {}, { quality: "clear" }, { quality: "natural" }] as const
    assert.deepStrictEqual(voices.toSorted(byQuality), [
      { quality: "natural" },
      { quality: "clear" },
      {},
      { quality: "basic" }
    ])
  })
})
