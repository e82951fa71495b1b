import { assert, describe, it } from "@effect/vitest"
import { makeRedact, redactBody } from "#runtime"

const known = 'correct "horse" \\ bättery'
const redact = makeRedact([{ Name: "badge", Pattern: "BADGE-\\d{6}" }], [known])
const token = "ghp_0123456789abcdefghij0123456789abcdef"
const encode = (text: string) => new TextEncoder().encode(text)
const bytesMax = 64 * 1_024
const redacted = (text: string, max = bytesMax) => {
  const { bytes } = redactBody(encode(text), redact, max)
  return new TextDecoder().decode(bytes)
}

describe("an unreadable message body, redacted", () => {
  it.each([
    ["a value", { error: `it was ${token}!` }, { error: "it was [github-token]!" }],
    ["a value deep down", { a: [{ b: [null, `BADGE-123456`] }] }, { a: [{ b: [null, "[badge]"] }] }],
    ["a key", { [token]: 1 }, { "[github-token]": 1 }],
    ["a value that is written with escapes", { error: known }, { error: "[secret]" }],
    [
      "what a key names a secret",
      { apiKey: "hunter2", db: { Password: "é" } },
      { apiKey: "[secret]", db: { Password: "[secret]" } }
    ],
    ["a secret that is a number", { access_token: 12_345_678 }, { access_token: "[secret]" }],
    ["JSON within a text", { log: '{"password":"hunter2hunter2"}' }, { log: '{"password":"[secret]"}' }]
  ])("stays JSON of the same structure without %s", (_what, body, expected) => {
    assert.deepStrictEqual(JSON.parse(redacted(JSON.stringify(body))), expected)
    assert.deepStrictEqual(JSON.parse(redacted(JSON.stringify(body, null, 2))), expected)
  })

  it("keeps other values as they were written, number by number", () => {
    const text = `{ "n": 12345678901234567890.10, "error": "${token}",\n "e": 1e400, "tokensInput": 7, "token": "", "x": "\\u0041" }`
    assert.strictEqual(redacted(text), text.replace(token, "[github-token]"))
  })

  it("is the very same bytes without a secret, text or not", () => {
    for (const bytes of [encode('{"a": "b\\u0041"}'), Uint8Array.of(0xff, 0xfe, 0x00, 0x22), new Uint8Array(0)]) {
      assert.deepStrictEqual(redactBody(bytes, redact, bytesMax), { bytes, isCut: false })
    }
  })

  it.each([
    ["JSON that breaks off", `{"error":"it was ${token}`],
    ["JSON that breaks off in a value that its key names", '{"a":"b","password":"hunter2hunter2'],
    ["JSON with an escape that is none", `{"error":"\\q ${token}"}`],
    ["a line", `Authorization: Bearer abcdefghijklmnopqrstuvwxyz`],
    ["a private key", `"-----BEGIN PRIVATE KEY-----\nabcdefghijklmnopqrstuvwxyz\n`],
    ["a value that is written with escapes", `{"error":${JSON.stringify(known)}`],
    ["bytes that are no text", `\u0000${token}\u0000`]
  ])("loses its secrets even when it is not JSON: %s", (_what, text) => {
    const clean = redacted(text)
    for (const secret of [token, "hunter2", "abcdefghijklm", "horse"]) assert.notInclude(clean, secret)
    assert.match(clean, /\[[a-z-]+\]/u)
  })
})
