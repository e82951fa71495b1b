import { assert, describe, it } from "@effect/vitest"
import { costUsd, suggestModels, type UpstreamCost } from "../../../../services/model-gateway/models/ModelRegistry.ts"

describe("what a provider takes for an answer", () => {
  const none: UpstreamCost = {
    inputPerMillion: undefined,
    cachedPerMillion: undefined,
    outputPerMillion: undefined,
    flat: undefined
  }
  // 3 $ and 15 $ for a million, 0.30 $ for a million from the cache.
  const byTokens = { ...none, inputPerMillion: 3_000_000, cachedPerMillion: 300_000, outputPerMillion: 15_000_000 }
  const usage = (inputTokens: number, cachedTokens: number, outputTokens: number) => ({
    inputTokens,
    cachedTokens,
    outputTokens
  })

  it.each([
    ["nothing is known without a cost", none, usage(1_000, 0, 1_000), 1, undefined],
    ["tokens cost what was asked and answered", byTokens, usage(1_000, 0, 2_000), 1, 0.033],
    ["cached tokens cost their own price", byTokens, usage(1_000, 400, 0), 1, 0.00192],
    ["a cache can hold no more than was asked", byTokens, usage(100, 1_000, 0), 1, 0.00003],
    ["a flat cost is paid for each image", { ...none, flat: 40_000 }, usage(0, 0, 0), 3, 0.12],
    ["a cost of nothing is a cost", { ...none, inputPerMillion: 0 }, usage(9, 9, 9), 1, 0]
  ] as const)("%s", (_, cost, tokens, images, usd) => {
    const found = costUsd(cost, tokens, images)
    if (usd === undefined) assert.isUndefined(found)
    else assert.closeTo(found ?? Number.NaN, usd, 1e-12)
  })
})

describe("a mistaken id", () => {
  it("gets the nearest ids first", () => {
    const known = [
      "demo/echo",
      "openai/gpt-5",
      "openai/gpt-5-mini",
      "anthropic/claude-opus",
      "demo/free",
      "demo/nostream"
    ]
    assert.strictEqual(suggestModels("openai/gpt5", known)[0], "openai/gpt-5")
    assert.strictEqual(suggestModels("claude-opus", known)[0], "anthropic/claude-opus")
    assert.isAtMost(suggestModels("x".repeat(1_000_000), known).length, 5)
  })
})
