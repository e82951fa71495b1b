import { assert, describe, it } from "@effect/vitest"
import { chatReader, type ChatEvent } from "../../../../services/cli/pay/answer.ts"

const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
const stream = [
  ": waiting\n\n",
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: "assistant" } }] })}\n\n`,
  chunk("Grüße "),
  chunk("🐦"),
  `data: ${JSON.stringify({ choices: [], usage: { total_tokens: 3 } })}\n\n`,
  ": payment-response eyJzdWNjZXNzIjp0cnVlfQ==\n\n",
  "data: [DONE]\n\n"
].join("")

const readIn = (text: string, bytesEach: number): ReadonlyArray<ChatEvent> => {
  const read = chatReader()
  const bytes = Buffer.from(text)
  const events: Array<ChatEvent> = []
  for (let at = 0; at < bytes.length; at += bytesEach) events.push(...read(bytes.subarray(at, at + bytesEach)))
  return events
}

describe("a streamed chat", () => {
  it.each([1, 2, 3, 7, 100_000])("is the same in pieces of %d bytes", (bytesEach) => {
    assert.deepStrictEqual(readIn(stream, bytesEach), [
      { type: "words", text: "Grüße " },
      { type: "words", text: "🐦" },
      { type: "receipt", header: "eyJzdWNjZXNzIjp0cnVlfQ==" },
      { type: "done" }
    ])
  })

  it("that fails on its way says why", () => {
    const failed = `${chunk("a")}data: {"error":{"message":"the provider broke off","code":"MODEL_UNAVAILABLE"}}\n\n`
    const reason = "the provider broke off (MODEL_UNAVAILABLE)"
    assert.deepStrictEqual(readIn(failed, 50).at(-1), { type: "failed", reason })
  })

  it("with a chunk that is no JSON fails", () => {
    assert.strictEqual(readIn("data: {\n\n", 50)[0]?.type, "failed")
  })
})
