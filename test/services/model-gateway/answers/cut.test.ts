import { assert, describe, it } from "@effect/vitest"
import { streamTranslator } from "../../../../services/model-gateway/answers/translation.ts"
import { writtenBytes } from "../../../../services/model-gateway/translate/written-bytes.ts"
import { type JsonObject, recordAt } from "../../../../services/model-gateway/translate/json.ts"
import type { ProviderKind } from "../../../../services/model-gateway/translate/provider-apis.ts"

const chunk = (delta: JsonObject): JsonObject => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "theirs",
  choices: [{ index: 0, delta, finish_reason: null }]
})

const begun: Readonly<Record<ProviderKind, ReadonlyArray<JsonObject>>> = {
  openai: [chunk({ role: "assistant", content: "" }), chunk({ content: "Half a " })],
  anthropic: [
    { type: "message_start", message: { id: "m1", usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half a " } }
  ]
}

const cutStream = (dialect: "chat" | "messages" | "responses", kind: ProviderKind) => {
  const shape = { dialect, model: "ours", request: {}, includesUsage: false, inputTokens: 5, nowSeconds: 1 }
  const translator = streamTranslator(shape, kind)
  for (const event of begun[kind]) translator.push(event)
  return translator.cut()
}

describe("a stream that is ended at what its payer has signed", () => {
  it.each(["openai", "anthropic"] as const)("ends with chat's reason of length, from %s", (kind) => {
    const reasons = cutStream("chat", kind).flatMap((event) =>
      (event["choices"] as ReadonlyArray<JsonObject>).map((choice) => choice["finish_reason"])
    )
    assert.deepStrictEqual(reasons, ["length"])
  })

  it.each(["openai", "anthropic"] as const)(
    "closes its block and stops at max_tokens for messages, from %s",
    (kind) => {
      const events = cutStream("messages", kind)
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["content_block_stop", "message_delta", "message_stop"]
      )
      assert.strictEqual(recordAt(events[1] ?? {}, "delta")["stop_reason"], "max_tokens")
    }
  )

  it.each(["openai", "anthropic"] as const)("is an incomplete response, from %s", (kind) => {
    const last = cutStream("responses", kind).at(-1) ?? {}
    const response = last["response"] as JsonObject
    assert.strictEqual(response["status"], "incomplete")
    assert.deepStrictEqual(response["incomplete_details"], { reason: "max_output_tokens" })
  })
})

describe("the bytes that a model wrote", () => {
  it("are counted once where a provider says a thought twice, and count a refusal", () => {
    const details = [{ type: "reasoning.text", text: "abc" }]
    assert.strictEqual(writtenBytes(chunk({ reasoning: "abc", reasoning_details: details })), 3)
    assert.strictEqual(writtenBytes(chunk({ reasoning_content: "abc", reasoning: "abc" })), 3)
    assert.strictEqual(writtenBytes(chunk({ reasoning: null, reasoning_details: details })), 3)
    assert.strictEqual(writtenBytes(chunk({ content: "a", refusal: "no" })), 3)
  })

  it("are its text, its thoughts and the arguments of its calls, in UTF-8", () => {
    assert.strictEqual(writtenBytes(chunk({ content: "äb" })), 3)
    assert.strictEqual(
      writtenBytes(chunk({ reasoning_content: "abc", tool_calls: [{ function: { name: "f", arguments: "{}" } }] })),
      5
    )
    assert.strictEqual(
      writtenBytes({
        content: [
          { type: "text", text: "abcd" },
          { type: "tool_use", input: { a: 1 } }
        ]
      }),
      11
    )
    assert.strictEqual(writtenBytes({ id: "long-id", model: "m", usage: { prompt_tokens: 5 } }), 0)
  })
})
