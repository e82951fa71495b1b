import { assert, describe, it } from "@effect/vitest"
import { jsonFault } from "../../../../libs/http/bodies/json-text.ts"

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

describe("the JSON grammar reader", () => {
  for (const [text, offset] of faults) {
    it(`finds the fault of ${JSON.stringify(text)} at ${offset}`, () => {
      assert.strictEqual(jsonFault(text, 3)?.offset, offset)
    })
  }

  it("reads long strings and deep nesting without recursing", () => {
    assert.isUndefined(jsonFault(`"${"\\u0041x".repeat(200_000)}"`, 1))
    assert.isUndefined(jsonFault(`${"[".repeat(100_000)}${"]".repeat(100_000)}`, 100_000))
    assert.strictEqual(jsonFault("[".repeat(100_000), 32)?.offset, 32)
  })
})
