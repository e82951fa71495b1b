import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { parseUnambiguousJson } from "#base/json"
import { jsonCodec } from "#bus"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("a message's JSON", () => {
  const { encode, decode } = jsonCodec(Schema.Struct({ text: Schema.String }))

  it.each([
    ["short", "a"],
    ["of characters of three bytes", "€".repeat(1_000)],
    ["longer than what is encoded in place", "a".repeat(100_000)],
    ["longer than that in bytes alone", "€".repeat(30_000)]
  ])("is encoded as UTF-8 and read again: %s", (_, text) => {
    const { data } = encode({ text })
    assert.deepStrictEqual(data, bytes(JSON.stringify({ text })))
    assert.deepStrictEqual(decode({ data, header: () => undefined }), Result.succeed({ text }))
  })

  it("is its own: a later message leaves it as it is", () => {
    const first = encode({ text: "first" })
    encode({ text: "other" })
    assert.deepStrictEqual(first.data, bytes('{"text":"first"}'))
  })

  it("that is passed on names no key twice", () => {
    assert.deepStrictEqual(parseUnambiguousJson(bytes('{"a":1,"b":{"a":2}}')), Result.succeed({ a: 1, b: { a: 2 } }))
    for (const text of ['{"a":1,"a":2}', '{"b":{"a":1,"\\u0061":2}}', "{", "\\xff"]) {
      assert.isTrue(Result.isFailure(parseUnambiguousJson(bytes(text))), text)
    }
    assert.isTrue(Result.isFailure(parseUnambiguousJson(new Uint8Array([0xff]))))
  })
})
