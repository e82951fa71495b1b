import { assert, describe, it } from "@effect/vitest"
import { halvings, isLarge, isWithin } from "./amounts.ts"

describe("amounts", () => {
  it("are within the limit up to the limit", () => {
    assert.deepStrictEqual([7, 8].map(isWithin), [true, false])
  })

  it("are large far beyond the limit", () => {
    assert.deepStrictEqual([1, 100].map(isLarge), [false, true])
  })

  it("are halved until one is left", () => {
    assert.deepStrictEqual([1, 2, 9].map(halvings), [0, 1, 3])
  })
})
