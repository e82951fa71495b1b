import { assert, describe, it } from "@effect/vitest"
import { promptSize } from "../../../../services/model-gateway/requests/read-call.ts"

describe("a prompt", () => {
  it("is measured by its text, its messages and its images, equally in every API dialect", () => {
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(9_000)}` } }
    const chat = {
      model: "x".repeat(99),
      messages: [{ role: "user", content: [{ type: "text", text: "héllo" }, picture] }]
    }
    assert.deepStrictEqual(promptSize(chat), { textBytes: 4 + 4 + 6, messages: 1, images: 1 })
    assert.deepStrictEqual(promptSize({ input: "abc", instructions: "de" }), { textBytes: 5, messages: 1, images: 0 })
    assert.isAbove(promptSize({ messages: [], tools: [{ name: "x".repeat(500) }] }).textBytes, 499)
  })
})
