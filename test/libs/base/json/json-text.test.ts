import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { jsonFault, parseJsonText, weightMaxOf } from "../../../../libs/base/json/json-text.ts"

const limits = { depthMax: 3, weightMax: 1_000_000 }

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
  const parsed = parseJsonText(text, limits)
  return Result.isFailure(parsed) ? parsed.failure : undefined
}

describe("the JSON grammar reader", () => {
  for (const [text, offset] of faults) {
    it(`finds the fault of ${JSON.stringify(text)} at ${offset}`, () => {
      const fault = jsonFault(text, limits)
      assert.strictEqual(fault?.offset, offset)
      assert.deepStrictEqual(faultOf(text), fault)
    })
  }

  it("gives the value of an acceptable text, however many brackets it has", () => {
    for (const text of ["1", "[]", '{"a":[[1,"[[[["]],"b":{"c":null}}', `[${"{},".repeat(10_000)}0]`]) {
      assert.deepStrictEqual(parseJsonText(text, limits), Result.succeed(JSON.parse(text)))
    }
  })

  it("refuses a forbidden key or too deep a value behind ten thousand others", () => {
    for (const end of ['{"__proto__":1}', "[[[1]]]"]) {
      const text = `[${"{},".repeat(10_000)}${end}]`
      assert.deepStrictEqual(faultOf(text), jsonFault(text, limits))
    }
  })

  it("reads no further than the bound in a text of a million brackets", () => {
    assert.strictEqual(
      Result.getOrThrow(Result.flip(parseJsonText("[".repeat(1_000_000), { ...limits, depthMax: 32 }))).offset,
      32
    )
  })

  it("reads long strings and deep nesting without recursing", () => {
    assert.isUndefined(jsonFault(`"${"\\u0041x".repeat(200_000)}"`, limits))
    assert.isUndefined(jsonFault(`${"[".repeat(100_000)}${"]".repeat(100_000)}`, { ...limits, depthMax: 100_000 }))
    assert.strictEqual(jsonFault("[".repeat(100_000), { ...limits, depthMax: 32 })?.offset, 32)
  })

  it("finds a forbidden key however it is written, and no other", () => {
    for (const key of [
      "__proto__",
      "\\u005f\\u005Fpr\\u006fto__",
      "\\u005f_\\u0070\\u0072\\u006F\\u0074\\u006f_\\u005F"
    ]) {
      for (const text of [`{"${key}":1}`, `{"${key}" :1}`, `{"a\\"":"\\\\","${key}":1}`]) {
        assert.include(faultOf(text)?.reason, "__proto__", text)
      }
    }
    for (const text of ['{"__PROTO__":1}', '{"__proto":1}', '{"__proto___":1}', '["__proto__"]', '{"a":"__proto__"}']) {
      assert.isUndefined(faultOf(text), text)
    }
  })

  it("weighs brackets, commas and colons, and none that stand in a text", () => {
    const weights: ReadonlyArray<readonly [text: string, weight: number]> = [
      ["1", 1],
      ['"[[{{,,::"', 1],
      ['"\\"[,:\\\\"', 1],
      ["[]", 9],
      ["[1,2,3]", 11],
      ['{"a":1,"b":["[","\\",["]}', 21],
      ['{"role":"user","content":"hi"}', 12]
    ]
    for (const [text, weight] of weights) {
      assert.isUndefined(Result.getOrUndefined(parseJsonText(text, { ...limits, weightMax: weight - 1 })), text)
      assert.isTrue(Result.isSuccess(parseJsonText(text, { ...limits, weightMax: weight })), text)
    }
  })

  it("calls what is too heavy too large, and not malformed", () => {
    const fault = faultOf(`[${"0,".repeat(1_000_000)}0]`)
    assert.isTrue(fault?.isTooLarge)
    assert.include(fault?.reason, "too many")
    assert.isUndefined(faultOf("[1,]")?.isTooLarge)
  })

  it("takes the lightest conversation that the gateway has room for, and the most ids of tokens", () => {
    const message = { role: "user", content: [{ type: "text", text: "hi" }] }
    const conversation = JSON.stringify({ model: "a/b", messages: Array.from({ length: 10_000 }, () => message) })
    const ids = JSON.stringify({
      model: "a/b",
      input: Array.from({ length: 200_000 }, (_, at) => (at * 7_919) % 100_000)
    })
    for (const text of [conversation, ids]) {
      const limits = { depthMax: 96, weightMax: weightMaxOf(1_048_576) }
      assert.isTrue(Result.isSuccess(parseJsonText(text, limits)))
    }
  })
})
