import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { jsonFault, parseJsonText } from "../../../../libs/http/bodies/json-text.ts"

const faults: ReadonlyArray<readonly [text: string, offset: number]> = [
  ["", 0],
  ["{", 1],
  ["[1,]", 3],
  ['{"a":}', 5],
  ['{"a" 1}', 5],
  ['{"a":1,}', 7],
  ["{a:1}", 1],
  ["[1 2]", 3],
  ["1 2", 2],
  ["01", 1],
  ["nul", 0],
  ['"a\nb"', 2],
  ['"\\x"', 1],
  ['"\\u12g4"', 1],
  ['"open', 5],
  ['{"a":[{"__proto__":1}]}', 7],
  ['{"\\u005f_proto__":1}', 1],
  ["[[[[1]]]]", 3]
]

const faultOf = (text: string) => {
  const parsed = parseJsonText(text, 3)
  return Result.isFailure(parsed) ? parsed.failure : undefined
}

describe("the JSON grammar reader", () => {
  for (const [text, offset] of faults) {
    it(`finds the fault of ${JSON.stringify(text)} at ${offset}`, () => {
      const fault = jsonFault(text, 3)
      assert.strictEqual(fault?.offset, offset)
      assert.deepStrictEqual(faultOf(text), fault)
    })
  }

  it("gives the value of an acceptable text, however many brackets it has", () => {
    for (const text of ["1", "[]", '{"a":[[1,"[[[["]],"b":{"c":null}}', `[${"{},".repeat(10_000)}0]`]) {
      assert.deepStrictEqual(parseJsonText(text, 3), Result.succeed(JSON.parse(text)))
    }
  })

  it("refuses a forbidden key or too deep a value behind ten thousand others", () => {
    for (const end of ['{"__proto__":1}', "[[[1]]]"]) {
      const text = `[${"{},".repeat(10_000)}${end}]`
      assert.deepStrictEqual(faultOf(text), jsonFault(text, 3))
    }
  })

  it("reads no further than the bound in a text of a million brackets", () => {
    assert.strictEqual(Result.getOrThrow(Result.flip(parseJsonText("[".repeat(1_000_000), 32))).offset, 32)
  })

  it("reads long strings and deep nesting without recursing", () => {
    assert.isUndefined(jsonFault(`"${"\\u0041x".repeat(200_000)}"`, 1))
    assert.isUndefined(jsonFault(`${"[".repeat(100_000)}${"]".repeat(100_000)}`, 100_000))
    assert.strictEqual(jsonFault("[".repeat(100_000), 32)?.offset, 32)
  })
})
