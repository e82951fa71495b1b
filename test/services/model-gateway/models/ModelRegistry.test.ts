import { assert, describe, it } from "@effect/vitest"
import { suggestModels } from "../../../../services/model-gateway/models/ModelRegistry.ts"

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
