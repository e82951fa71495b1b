import { assert, describe, it } from "@effect/vitest"
import { takesOf } from "../../../../services/model-gateway/conversation/provider-takes.ts"

describe("what a provider of OpenAI's API takes", () => {
  it.each([
    ["https://api.openai.com/v1", "openai", "none"],
    ["https://eu.api.openai.com/v1", "openai", "none"],
    ["https://a.openai.azure.com/openai/v1", "openai", "none"],
    ["https://openrouter.ai/api/v1", "extended", "reasoning_details"],
    ["https://api.deepseek.com/v1", "common", "required"],
    ["https://notopenai.com/v1", "extended", "reasoning_content"],
    ["http://127.0.0.1:8000/v1", "extended", "reasoning_content"]
  ] as const)("follows from its host: %s", (BaseUrl, parameters, thoughts) => {
    assert.deepStrictEqual(takesOf({ BaseUrl }), { parameters, thoughts })
  })

  it("is what its entry says", () => {
    const common = { BaseUrl: "http://127.0.0.1:8000/v1", Parameters: "common", Thoughts: "none" } as const
    assert.deepStrictEqual(takesOf(common), { parameters: "common", thoughts: "none" })
    const extended = { BaseUrl: "https://api.openai.com/v1", Parameters: "extended" } as const
    assert.deepStrictEqual(takesOf(extended), { parameters: "extended", thoughts: "none" })
  })
})
