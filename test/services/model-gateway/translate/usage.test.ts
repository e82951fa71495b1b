import { assert, describe, it } from "@effect/vitest"
import {
  anthropicUsage,
  asAnthropicUsage,
  asOpenAiUsage,
  openAiUsage
} from "../../../../services/model-gateway/translate/usage.ts"

describe("the tokens of an answer", () => {
  it("of Anthropic's include what was read from its cache and what was written to it", () => {
    const usage = anthropicUsage({
      input_tokens: 5,
      cache_read_input_tokens: 70,
      cache_creation_input_tokens: 900,
      output_tokens: 3
    })
    assert.deepStrictEqual(usage, { inputTokens: 975, cachedTokens: 70, outputTokens: 3, reasoningTokens: 0 })
  })

  it("are told to Anthropic's callers with the cached ones apart, each once", () => {
    const told = asAnthropicUsage({ inputTokens: 100, cachedTokens: 60, outputTokens: 3, reasoningTokens: 2 })
    assert.deepInclude(told, { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 3 })
    assert.strictEqual(told.input_tokens + told.cache_read_input_tokens + told.cache_creation_input_tokens, 100)
  })

  it("are the same after they were told in either vendor's words", () => {
    const usage = { inputTokens: 100, cachedTokens: 60, outputTokens: 30, reasoningTokens: 20 }
    assert.deepStrictEqual(openAiUsage(asOpenAiUsage(usage)), usage)
    assert.deepStrictEqual(anthropicUsage(asAnthropicUsage(usage)), { ...usage, reasoningTokens: 0 })
  })
})
