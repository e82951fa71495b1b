import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { sanitise } from "#egress"
import { computed } from "../../support/processor-time.ts"

const own = { secrets: ["correct-horse-battery"], names: ["acme-west", "models.acme.example", "acme-large-2"] }
const clean = (text: string) => sanitise(text, own) ?? ""

/** Texts that must never get outside, each in a provider's form. */
const planted = [
  "correct-horse-battery",
  "sk-proj-abcDEF123456ghiJKL",
  "sk-ant-api03-abcdefghijk",
  "sk-...wxyz",
  "gsk_8a7b6c5d4e3f2a1b",
  "AKIAIOSFODNN7EXAMPLE",
  "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  "0123456789abcdef0123456789abcdef",
  "https://api.acme.example/v1/chat?key=abc",
  "wss://10.1.2.3:8443/stream",
  "http://user:pass@proxy.internal:3128/",
  "llm-7.prod.svc.cluster.local",
  "gateway.us-east-1.amazonaws.com:443",
  "localhost:8000",
  "worker-3:9090",
  "10.42.0.17",
  "192.168.1.20:5000",
  "2001:db8:85a3::8a2e:370:7334",
  "fe80::1%eth0",
  "::ffff:10.0.0.1",
  "org-AbCdEf123456",
  "req_011CSHoEeqs5C35K2UUqR7Fy",
  "ops@acme.example",
  "acme-west",
  "models.acme.example",
  "acme-large-2",
  "OpenRouter",
  "nginx",
  "Azure"
] as const

const words = [
  "the",
  "request",
  "failed",
  "model",
  "temperature",
  "must be",
  "at most 2",
  "(see",
  "docs)",
  "'top_p'",
  "for",
  "error:"
] as const

describe("a provider's sanitised message", () => {
  const Around = Schema.Literals(["", "'", "(", '"', "<", ": ", ", ", "= "])
  const Text = Schema.Array(Schema.Literals(words))
  it.prop(
    "contains no key, no place and no provider's name, anywhere in it",
    [Text, Schema.Literals(planted), Around, Around, Text],
    ([before, secret, left, right, after]) => {
      const said = `${before.slice(0, 20).join(" ")} ${left}${secret}${right} ${after.slice(0, 20).join(" ")}`
      assert.notInclude(clean(said).toLowerCase(), secret.toLowerCase(), said)
    },
    { arbitrary: { runs: 800 } }
  )

  it("contains no header with a key", () => {
    for (const said of [
      "Authorization: Bearer abc.def",
      "x-api-key=short1",
      'api_key: "zz9"',
      "password is wrong, password=hunter2"
    ]) {
      assert.notMatch(clean(said), /abc\.def|short1|zz9|hunter2/u)
    }
  })

  it("still says what a caller can correct", () => {
    const kept = [
      "temperature: must be at most 2",
      "Unsupported value: 'top_p' does not support 0.5 with this model.",
      "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.",
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."
    ]
    for (const said of kept) assert.strictEqual(clean(said), said)
  })

  it("is short, on one line, and undefined when nothing is left", () => {
    assert.isAtMost(clean("word ".repeat(100_000)).length, 600)
    assert.notMatch(clean("a\nb\tc\u2028d"), /[\n\t\u2028]/u)
    assert.isUndefined(sanitise(" \n ", own))
  })

  it("is read in linear time for any input", () => {
    const { processorMs } = computed(() => {
      for (const piece of ["a.", "a", ":", "1.", "@", "sk-", "::", "a:", "=".repeat(3), "bearer "])
        clean(piece.repeat(1_000_000))
    })
    assert.isBelow(processorMs, 1_000)
  })
})
