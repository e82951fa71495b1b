import { assert, describe, it } from "@effect/vitest"
import { setNewest } from "#base"

const setAll = (keys: string, max: number) => {
  const map = new Map<string, number>()
  for (const [at, key] of [...keys].entries()) setNewest(map, key, at, max)
  return [...map]
}

describe("a bounded map", () => {
  it("keeps all keys up to its bound", () => {
    assert.deepStrictEqual(setAll("abc", 3), [
      ["a", 0],
      ["b", 1],
      ["c", 2]
    ])
  })

  it("drops the key that was set longest ago", () => {
    assert.deepStrictEqual(setAll("abcad", 3), [
      ["c", 2],
      ["a", 3],
      ["d", 4]
    ])
  })
})
