import { assert, describe, it } from "@effect/vitest"
import { takesOf } from "../../../../services/model-gateway/conversation/provider-takes.ts"

describe("what a provider of OpenAI's API takes", () => {
  it.each([
    ["https://api.openai.com/v1", false, "none"],
    ["https://eu.api.openai.com/v1", false, "none"],
    ["https://a.openai.azure.com/openai/v1", false, "none"],
    ["https://openrouter.ai/api/v1", true, "reasoning_details"],
    ["https://api.deepseek.com/v1", true, "reasoning_content"],
    ["https://notopenai.com/v1", true, "reasoning_content"],
    ["http://127.0.0.1:8000/v1", true, "reasoning_content"]
  ] as const)("follows from its host: %s", (BaseUrl, extensions, thoughts) => {
    assert.deepStrictEqual(takesOf({ BaseUrl }), { extensions, thoughts })
  })

  it("is what its entry says", () => {
    const own = { BaseUrl: "http://127.0.0.1:8000/v1", Parameters: "own", Thoughts: "none" } as const
    assert.deepStrictEqual(takesOf(own), { extensions: false, thoughts: "none" })
    const extended = { BaseUrl: "https://api.openai.com/v1", Parameters: "extended" } as const
    assert.deepStrictEqual(takesOf(extended), { extensions: true, thoughts: "none" })
  })
})
