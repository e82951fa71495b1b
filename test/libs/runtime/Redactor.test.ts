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

  it("loses a token of our own that stands alone in a text", () => {
    const text = `it was stl_${"aB3_-".repeat(8)}xyz`
    assert.strictEqual(redacted(`{"error":"${text}"}`), '{"error":"it was [starling-token]"}')
    assert.strictEqual(redacted(`${text}\nand more`), "it was [starling-token]\nand more")
  })

  it("shows no rest of a secret that contains another, in whatever order they are known", () => {
    for (const secrets of [
      ["hunter", "hunter-of-the-north"],
      ["hunter-of-the-north", "hunter"]
    ])
      assert.strictEqual(makeRedact([], secrets)("a hunter-of-the-north, a hunter"), "a [secret], a [secret]")
  })

  it("shows no beginning of a secret that lies across the end of what is kept", () => {
    for (const before of [90, 99, 100]) {
      const { bytes, isCut } = redactBody(encode(`${" ".repeat(before)}${token}${" ".repeat(8_192)}`), redact, 100)
      assert.isTrue(isCut)
      assert.isAtMost(bytes.length, 100)
      assert.isAtLeast(bytes.length, 60)
      assert.notInclude(new TextDecoder().decode(bytes), "ghp_")
    }
  })

  it("shows no beginning of a secret that is cut where the looking ends, when a long one before it has shrunk", () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${"A".repeat(4_100)}\n-----END PRIVATE KEY-----`
    // Of the token only six characters are looked at, which are none of its shape.
    const before = `${key}${" ".repeat(100 + 4 * 1_024 - 6 - key.length)}`
    assert.notInclude(redacted(`${before}${token}`, 100), "ghp_")
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
