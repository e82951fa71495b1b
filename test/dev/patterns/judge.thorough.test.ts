/** The judge over trees of one file each; recheck itself decides. */
import { assert, describe, it } from "@effect/vitest"
import { judge } from "../../../dev/patterns/judge.ts"
import { patternsOf } from "../../../dev/patterns/patterns.ts"

const judged = (text: string, exceptions = {}, safeBefore: ReadonlyArray<string> = []) =>
  judge([{ file: "some.ts", ...patternsOf("some.ts", text) }], exceptions, new Set(safeBefore))

describe("a pattern", () => {
  it.each([String.raw`/^<(?:"[^"<]*"?|[^"<>])*$/u`, String.raw`/^(?:a|a)*$/u`, String.raw`/^(?:\w+\s?)*$/u`])(
    "of exponential time is a fault: %s",
    async (pattern) => {
      const { faults, safe } = await judged(`\nconst a = ${pattern}`)
      assert.lengthOf(faults, 1)
      assert.match(faults[0] ?? "", /^some\.ts:2 \/.* it takes exponential time, for example for '/u)
      assert.deepStrictEqual(safe, [])
    }
  )

  it.each([String.raw`/\s+$/u`, String.raw`/^(.*?)\s*\/([^/]*)\/$/u`, String.raw`/<[^>]*>/gu`])(
    "of more than linear time is a fault: %s",
    async (pattern) => {
      const { faults } = await judged(`const a = ${pattern}`)
      assert.match(faults.join(), /it takes \d+ ms for \d+ characters, [\d.]+ ms for a quarter: /u)
    }
  )

  it("of linear time is safe, and need not be judged again", async () => {
    const text = String.raw`const [a, b] = [/<[^<>]*>/gu, /x/u]`
    assert.deepStrictEqual(await judged(text), { faults: [], safe: ["/<[^<>]*>/gu"] })
    const slow = String.raw`const a = /\s+$/u`
    assert.deepStrictEqual((await judged(slow, {}, [String.raw`/\s+$/u`])).faults, [])
  })

  it("is excused by what bounds it, in its file alone", async () => {
    const text = String.raw`const a = /\s+$/u`
    const excused = { [String.raw`some.ts /\s+$/u`]: "a word" }
    assert.deepStrictEqual(await judged(text, excused), { faults: [], safe: [] })
    assert.lengthOf((await judged(text, { [String.raw`other.ts /\s+$/u`]: "a word" })).faults, 2)
  })
})

describe("a pattern that is made when it runs", () => {
  const text = "const f = (a: string) => new RegExp(a)"

  it("is a fault unless it is listed", async () => {
    assert.match((await judged(text)).faults.join(), /^some\.ts:1 new RegExp\(a\): it is made when it runs/u)
    assert.deepStrictEqual((await judged(text, { "some.ts new RegExp(a)": "a name" })).faults, [])
  })
})

describe("an exception", () => {
  it("that excuses nothing is a fault", async () => {
    const { faults } = await judged("const a = 1", { "some.ts /x+/u": "a word" })
    assert.deepStrictEqual(faults, ["some.ts /x+/u: dev/patterns/exceptions.ts excuses what is not there"])
  })
})
