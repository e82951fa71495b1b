import { assert, describe, it } from "@effect/vitest"
import { lruCache } from "../../../libs/actors/actors.ts"

describe("an LRU cache", () => {
  it("keeps the entries used last, up to its bound", () => {
    const cache = lruCache<number>(2)

    cache.set("a", 1)
    cache.set("b", 2)
    assert.strictEqual(cache.get("a"), 1)
    cache.set("c", 3)

    assert.deepStrictEqual([cache.get("a"), cache.get("b"), cache.get("c")], [1, undefined, 3])
  })

  it("replaces a value by a newer one, and forgets removed entries", () => {
    const cache = lruCache<number>(2)

    cache.set("a", 1)
    cache.set("a", 2)
    assert.strictEqual(cache.get("a"), 2)
    cache.remove("a")

    assert.isUndefined(cache.get("a"))
  })
})
