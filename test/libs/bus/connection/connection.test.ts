import { assert, describe, it } from "@effect/vitest"
import { writeThroughCache } from "../../../../libs/bus/connection/write-through-cache.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("an entry that this process wrote and reads again", () => {
  it("is the written object when it comes back byte for byte", () => {
    const cache = writeThroughCache()
    const written = bytes("one")
    cache.put("log.jar.a", written)
    const read = bytes("one")

    assert.strictEqual(cache.intern("log.jar.a", read), written)
    assert.strictEqual(cache.intern("log.jar.b", read), read)
  })

  it("is the read object when another process wrote it, or it was written again since", () => {
    const cache = writeThroughCache()
    cache.put("log.jar.a", bytes("one"))
    const [other, longer] = [bytes("two"), bytes("one more")]
    assert.strictEqual(cache.intern("log.jar.a", other), other)
    assert.strictEqual(cache.intern("log.jar.a", longer), longer)

    cache.put("log.jar.a", bytes("two"))
    const before = bytes("one")
    assert.strictEqual(cache.intern("log.jar.a", before), before)
  })

  it("is dropped at the bound of the cache, the older half first", () => {
    const cache = writeThroughCache(4 * 1_280)
    const written = ["a", "b", "c", "d", "e"].map((id) => ({ id, data: new Uint8Array(1_024).fill(id.charCodeAt(0)) }))
    for (const { id, data } of written) cache.put(id, data)
    const isKept = written.map(({ id, data }) => cache.intern(id, data.slice()) === data)
    assert.deepStrictEqual(isKept, [false, false, true, true, true])
  })
})
