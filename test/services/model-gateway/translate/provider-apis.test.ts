import { assert, describe, it } from "@effect/vitest"
import { eventDecoder, type StreamFacts } from "../../../../services/model-gateway/translate/provider-apis.ts"

const utf8 = new TextEncoder()

/** What is decoded of a provider's stream of these events, and what it says of the answer. */
const streamed = (kind: "openai" | "anthropic", events: ReadonlyArray<object | string>) => {
  const facts: StreamFacts = { isFinished: false, usage: undefined, answerBytes: 0 }
  const decode = eventDecoder(kind, facts)
  const text = events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("")
  return { facts, decoded: [...decode(utf8.encode(text.slice(0, 7))), ...decode(utf8.encode(text.slice(7)))] }
}

describe("what a streamed answer has used", () => {
  const start = {
    type: "message_start",
    message: { usage: { input_tokens: 9, cache_read_input_tokens: 1, output_tokens: 1 } }
  }
  const delta = (usage: object) => ({ type: "message_delta", usage })

  it("is by Anthropic what its start says of the request, with the last count of the answer", () => {
    const { facts } = streamed("anthropic", [start, delta({ output_tokens: 5 }), delta({ output_tokens: 7 })])
    assert.deepInclude(facts.usage, { inputTokens: 10, outputTokens: 7 })
    assert.isFalse(facts.isFinished)
  })

  it("is by Anthropic all of the end where that names the request again", () => {
    const end = delta({ input_tokens: 20, output_tokens: 7 })
    assert.deepInclude(streamed("anthropic", [start, end, { type: "message_stop" }]).facts, { isFinished: true })
    assert.deepInclude(streamed("anthropic", [start, end]).facts.usage, { inputTokens: 20, outputTokens: 7 })
    assert.deepInclude(streamed("anthropic", [end]).facts.usage, { inputTokens: 20, outputTokens: 7 })
  })

  it("is by OpenAI what the last chunk with figures says, and none before", () => {
    const chunk = { choices: [{ delta: { content: "a" } }] }
    const last = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }
    assert.isUndefined(streamed("openai", [chunk]).facts.usage)
    const { facts } = streamed("openai", [chunk, { choices: [{ finish_reason: "stop", delta: {} }] }, last])
    assert.deepInclude(facts.usage, { inputTokens: 3, outputTokens: 4 })
    assert.isTrue(facts.isFinished)
  })
})

describe("a provider's stream", () => {
  it("is read event by event, with its end and with what is none", () => {
    const { decoded } = streamed("openai", [{ a: 1 }, "nonsense", "[1]", "[DONE]"])
    assert.deepStrictEqual(decoded, [
      { _tag: "Event", event: { a: 1 } },
      { _tag: "Garbage", text: "nonsense" },
      { _tag: "Garbage", text: "[1]" },
      { _tag: "End" }
    ])
  })

  it.each([
    [400, { code: 400 }],
    [599, { code: 599 }],
    [500, { code: 399 }],
    [500, { code: 600 }],
    [500, { code: "rate_limited" }],
    [500, {}]
  ])("that ends with an error has the status %i for %j", (status, error) => {
    for (const event of [{ error }, { type: "error", error }]) {
      const [found] = streamed("openai", [event]).decoded
      assert.deepStrictEqual(found, { _tag: "Error", status, text: JSON.stringify(event) })
    }
  })

  it("has no error where the field is there and empty", () => {
    assert.strictEqual(streamed("openai", [{ error: null }]).decoded[0]?._tag, "Event")
  })
})
