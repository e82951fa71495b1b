import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { jsonBytes } from "../../../../services/model-gateway/translate/json-bytes.ts"

const written = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

describe("the bytes of a value as JSON", () => {
  const texts = [
    '"',
    "\\",
    "\n\t\r\b\f",
    "\u0000\u000b\u001f",
    "\u007f",
    "é",
    "\u07ff",
    "\u0800",
    "\uffff",
    "😀",
    "\ud800",
    "\udc00x"
  ]
  const values = [0, -0, Infinity, 1e21, 0.1, -5, true, false, null, [], [[]], {}, [1, "a", null]]
  const objects = [{ a: undefined }, { a: undefined, b: 1, c: 2 }, { "\n": { "": [{}, {}] } }]
  it.each([...texts, ...values.map((value) => [value]), ...objects])(
    "%j are those that JSON.stringify writes",
    (value) => assert.strictEqual(jsonBytes(value), written(value))
  )

  it("are so for every unit of UTF-16 by itself", () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const text = String.fromCharCode(unit)
      assert.strictEqual(jsonBytes(text), written(text), unit.toString(16))
    }
  })

  it.prop("are so for any value", [Schema.Unknown, Schema.Array(Schema.String)], ([value, texts]) => {
    const json = JSON.parse(JSON.stringify({ value, texts })) as unknown
    assert.strictEqual(jsonBytes(json), written(json))
  })
})
