import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { AnswerFrame } from "../../../../services/model-gateway/answers/AnswerEvents.ts"
import { ownChunks, ownCompletion, ownEvents } from "../../../../services/model-gateway/answers/own-dialect.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"

const frame: AnswerFrame = {
  model: "demo/x",
  nowSeconds: 5,
  includesUsage: true,
  inputTokens: 77,
  request: {},
  calls: (name) => ({ _tag: "Function", name })
}

const chunk = (index: number, delta: JsonObject, reason: string | null = null): JsonObject => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "theirs",
  provider: "hidden",
  system_fingerprint: "fp",
  choices: [{ index, delta, logprobs: { content: [] }, finish_reason: reason }]
})

const callsOf = (events: ReadonlyArray<JsonObject>) =>
  events
    .flatMap((event) => event["choices"] as ReadonlyArray<{ readonly delta: JsonObject }>)
    .flatMap(({ delta }) => (delta["tool_calls"] ?? []) as ReadonlyArray<JsonObject>)

describe("chunks for a caller of chat", () => {
  it("keep every key but those that name the provider behind a router", () => {
    const [made] = ownChunks(frame).push(chunk(1, { content: "a" }))
    assert.deepStrictEqual(made, {
      id: "c1",
      object: "chat.completion.chunk",
      created: 1,
      model: "demo/x",
      system_fingerprint: "fp",
      choices: [{ index: 1, delta: { content: "a" }, logprobs: { content: [] }, finish_reason: null }]
    })
  })

  it("get an index and an id for each call, and keep its other keys", () => {
    const { push, failure } = ownChunks(frame)
    const extra = { google: { thought_signature: "s" } }
    const made = [
      chunk(0, {
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{" }, extra_content: extra }]
      }),
      chunk(0, { tool_calls: [{ function: { arguments: "}" } }] }),
      chunk(0, { tool_calls: [{ id: "b", function: { name: "g", arguments: "{}" } }] }),
      chunk(0, {}, "tool_calls")
    ].flatMap(push)
    assert.deepStrictEqual(callsOf(made), [
      { extra_content: extra, index: 0, id: "a", type: "function", function: { name: "f", arguments: "{" } },
      { index: 0, function: { arguments: "}" } },
      { index: 1, id: "b", type: "function", function: { name: "g", arguments: "{}" } }
    ])
    assert.isUndefined(failure())
  })

  it("get an id with the reason for the end, where the provider gives none, in each of several choices", () => {
    const { push } = ownChunks(frame)
    const calling = (index: number) =>
      chunk(index, { tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" } }] })
    const made = [calling(0), calling(1), chunk(0, {}, "stop"), chunk(1, {}, "stop")].flatMap(push)
    assert.deepStrictEqual(callsOf(made), [
      { index: 0, id: "call_c1_0_0", type: "function", function: { name: "f", arguments: "{}" } },
      { index: 0, id: "call_c1_1_0", type: "function", function: { name: "f", arguments: "{}" } }
    ])
  })

  it("make no sense with a call that never has a name", () => {
    const { push, failure } = ownChunks(frame)
    push(chunk(0, { tool_calls: [{ index: 0, id: "a", function: { arguments: "{}" } }] }))
    assert.isUndefined(failure())
    push(chunk(0, {}, "tool_calls"))
    assert.strictEqual(failure(), "a call without a name")
  })

  it("end by length in each choice that is open, where they are cut", () => {
    const { push, cut } = ownChunks(frame)
    for (const event of [chunk(0, { content: "a" }), chunk(1, { content: "b" }), chunk(0, {}, "stop")]) push(event)
    assert.deepStrictEqual(
      cut().flatMap((event) => event["choices"] as ReadonlyArray<unknown>),
      [{ index: 1, delta: {}, logprobs: null, finish_reason: "length" }]
    )
  })

  it("have usage only on request", () => {
    const usage = { prompt_tokens: 1 }
    const events = [
      { ...chunk(0, { content: "a" }), usage },
      { id: "c1", choices: [], usage }
    ]
    assert.notInclude(JSON.stringify(events.flatMap(ownChunks({ ...frame, includesUsage: false }).push)), "usage")
    assert.strictEqual(events.flatMap(ownChunks(frame).push).length, 2)
  })
})

describe("a whole completion for a caller of chat", () => {
  it("keeps every key, and gets the ids that its calls lack", () => {
    const calls = [
      { type: "function", function: { name: "f", arguments: "{}" } },
      { id: "b", function: { name: "g" } }
    ]
    const message = { role: "assistant", content: null, annotations: [], tool_calls: calls }
    const answer = { id: "c1", model: "theirs", provider: "hidden", choices: [{ index: 0, message }] }
    assert.deepStrictEqual(Result.getOrThrow(ownCompletion(answer, frame)), {
      id: "c1",
      model: "demo/x",
      choices: [
        {
          index: 0,
          message: { ...message, tool_calls: [{ ...calls[0], id: "call_c1_0_0" }, calls[1]] }
        }
      ]
    })
  })
})

describe("a whole completion with a call that has no name", () => {
  it("makes no sense", () => {
    const message = { role: "assistant", tool_calls: [{ id: "a", function: { name: "", arguments: "{}" } }] }
    const made = ownCompletion({ id: "c1", choices: [{ index: 0, message }] }, frame)
    assert.deepStrictEqual(made, Result.fail("a call without a name"))
  })
})

describe("events for a caller of messages", () => {
  it("pass as they came, under the caller's name for the model", () => {
    const events = [
      { type: "message_start", message: { id: "m1", model: "theirs", usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "server_tool_use", id: "s" } },
      { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: {} } }
    ]
    const { push, cut } = ownEvents(frame)
    assert.deepStrictEqual(events.flatMap(push), [
      { ...events[0], message: { id: "m1", model: "demo/x", usage: { input_tokens: 1 } } },
      ...events.slice(1)
    ])
    assert.deepStrictEqual(
      cut().map(({ type }) => type),
      ["content_block_stop", "message_delta", "message_stop"]
    )
  })
})
