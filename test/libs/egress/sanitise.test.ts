import { assert, describe, it } from "@effect/vitest"
import { sanitise } from "#egress"
import { computed } from "../../support/processor-time.ts"
import { clean, own, planted } from "./planted.ts"

describe("a provider's sanitised message", () => {
  it("contains no key, no place and no provider's name", () => {
    for (const secret of planted) {
      for (const said of [`the request to ${secret} failed`, `error: '${secret}'`, `(see <${secret}>, docs)`]) {
        assert.notInclude(clean(said).toLowerCase(), secret.toLowerCase(), said)
      }
    }
  })

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
