import { assert, describe, it } from "@effect/vitest"
import { makeNewest } from "../../../libs/actor/newest.ts"

describe("what is remembered", () => {
  it("is what was used last, and no more than there is room for", () => {
    const newest = makeNewest<number>(2)

    newest.set("a", 1)
    newest.set("b", 2)
    assert.strictEqual(newest.get("a"), 1)
    newest.set("c", 3)

    assert.deepStrictEqual([newest.get("a"), newest.get("b"), newest.get("c")], [1, undefined, 3])
  })

  it("is replaced by what is newer, and forgotten when it is removed", () => {
    const newest = makeNewest<number>(2)

    newest.set("a", 1)
    newest.set("a", 2)
    assert.strictEqual(newest.get("a"), 2)
    newest.remove("a")

    assert.isUndefined(newest.get("a"))
  })
})
