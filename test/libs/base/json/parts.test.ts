import { assert, describe, it } from "@effect/vitest"
import { elementTexts, memberTexts } from "#base/json"

describe("the parts of a JSON text", () => {
  it.each([
    ['{"a":1,"b":{"c":[1,2]}}', { a: "1", b: '{"c":[1,2]}' }],
    [' { "a" : 12345678901234567890 , "b" : 1.0 } ', { a: "12345678901234567890", b: "1.0" }],
    ['{"a,\\"}":"x,:}\\\\","\\u0061":[",]"]}', { 'a,"}': '"x,:}\\\\"', a: '[",]"]' }],
    ["{}", {}],
    ["{ }", {}]
  ])("of the object %s are its members as written", (text, members) => {
    assert.deepStrictEqual(Object.fromEntries(memberTexts(text)), members)
  })

  it.each([
    ['[1, {"a":[1,2]} ,"],"]', ["1", '{"a":[1,2]}', '"],"']],
    ["[]", []],
    ["[[]]", ["[]"]]
  ])("of the list %s are its elements as written", (text, elements) => {
    assert.deepStrictEqual(elementTexts(text), elements)
  })
})
