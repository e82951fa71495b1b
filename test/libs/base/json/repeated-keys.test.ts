import { assert, describe, it } from "@effect/vitest"
import { repeatedKeys } from "#base"
import { computed } from "../../../support/processor-time.ts"

const pathsOf = (text: string) => repeatedKeys(text).map(({ path }) => path)

describe("keys that are given more than once", () => {
  it.each([
    ['{"a":1,"a":2}', ["/a"]],
    ['{"a":1,"a":2,"a":3}', ["/a", "/a"]],
    ['{"a":{"b":1,"c":2,"b":3}}', ["/a/b"]],
    ['{"a":[{"b":1},{"b":1,"b":2}]}', ["/a/1/b"]],
    ['[[1,2],[{"a":[]},{"a":"x","a":{}}]]', ["/1/1/a"]],
    ['{"a":1,"\\u0061":2}', ["/a"]],
    ['{"":1,"":2}', ["/"]],
    ['{"__proto__":1,"__proto__":2}', ["/__proto__"]],
    ['{ "a" : 1 , "b" : { "a" : 2 } , "a" : 3 }', ["/a"]],
    ['{"a":"\\\\","a":"\\""}', ["/a"]]
  ])("are found in %s", (text, paths) => {
    assert.doesNotThrow(() => void JSON.parse(text))
    assert.deepStrictEqual(pathsOf(text), paths)
  })

  it.each([
    ['{"a":1,"A":2}'],
    ['{"a":{"a":{"a":1}}}'],
    ['[{"a":1},{"a":1}]'],
    ['{"a":"a","b":["a","a"]}'],
    ['{"a":"{\\"a\\":1,\\"a\\":2}"}'],
    ['{"a,":1,"a":2}'],
    ['"a"'],
    ["7"],
    ["{}"]
  ])("are not found in %s", (text) => {
    assert.doesNotThrow(() => void JSON.parse(text))
    assert.deepStrictEqual(pathsOf(text), [])
  })

  it("are found in linear time, and no more are named than somebody mends", () => {
    const texts = [
      `{${'"a":1,'.repeat(300_000)}"a":1}`,
      `{"a":"${"\\\\".repeat(500_000)}","a":1}`,
      `{"a":"${'\\"'.repeat(500_000)}","a":1}`,
      `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`
    ]
    const { value: found, processorMs } = computed(() => texts.map((text) => repeatedKeys(text).length))
    assert.deepStrictEqual(found, [50, 1, 1, 0])
    // Some 50 ms; a quadratic reader takes minutes.
    assert.isBelow(processorMs, 5_000)
  })
})
