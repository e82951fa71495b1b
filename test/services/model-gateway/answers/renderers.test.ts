import { assert, describe, it } from "@effect/vitest"
import type {
  AnswerEvent,
  AnswerFrame,
  CallForm,
  EndReason
} from "../../../../services/model-gateway/answers/AnswerEvents.ts"
import { gathered } from "../../../../services/model-gateway/answers/GatheredAnswer.ts"
import { chatRenderer, completionOf } from "../../../../services/model-gateway/answers/render-chat.ts"
import { messageOf, messagesRenderer } from "../../../../services/model-gateway/answers/render-messages.ts"
import { responseOf, responsesRenderer } from "../../../../services/model-gateway/answers/render-responses.ts"
import { sealThought } from "../../../../services/model-gateway/translate/sealed-thought.ts"
import { type JsonObject, recordAt, recordsAt } from "../../../../services/model-gateway/translate/json.ts"

const forms: Readonly<Record<string, CallForm>> = {
  apply_patch: { _tag: "Custom", name: "apply_patch", key: "input" },
  shell: { _tag: "Client", name: "local_shell" },
  files__read: { _tag: "Function", name: "read", namespace: "files" }
}

const frame: AnswerFrame = {
  model: "demo/x",
  nowSeconds: 5,
  includesUsage: true,
  inputTokens: 77,
  request: {},
  calls: (name) => forms[name] ?? { _tag: "Function", name }
}

const usage = { inputTokens: 30, cachedTokens: 10, outputTokens: 4, reasoningTokens: 1 }

const whole = (reason: EndReason, ...parts: ReadonlyArray<ReadonlyArray<AnswerEvent>>): ReadonlyArray<AnswerEvent> => [
  { _tag: "Begun", id: "a1" },
  ...parts.flat(),
  { _tag: "Used", usage },
  { _tag: "Ended", reason }
]

const text = (index: number, said: string, isCut = false): ReadonlyArray<AnswerEvent> => [
  { _tag: "Opened", index, part: { _tag: "Text" } },
  { _tag: "Added", index, text: said },
  { _tag: "Closed", index, isCut }
]

const refusal = (index: number, said: string): ReadonlyArray<AnswerEvent> => [
  { _tag: "Opened", index, part: { _tag: "Refusal" } },
  { _tag: "Added", index, text: said },
  { _tag: "Closed", index, isCut: false }
]

const thought = (index: number, said: string, signature?: string): ReadonlyArray<AnswerEvent> => [
  { _tag: "Opened", index, part: { _tag: "Reasoning" } },
  { _tag: "Added", index, text: said },
  ...(signature === undefined ? [] : [{ _tag: "Sealed", index, signature } as const]),
  { _tag: "Closed", index, isCut: false }
]

const hidden = (index: number): ReadonlyArray<AnswerEvent> => [
  { _tag: "Opened", index, part: { _tag: "Encrypted", data: "xyz" } },
  { _tag: "Closed", index, isCut: false }
]

const call = (index: number, name: string, input: string, isCut = false): ReadonlyArray<AnswerEvent> => [
  { _tag: "Opened", index, part: { _tag: "ToolCall", id: `id_${index}`, name } },
  { _tag: "Added", index, text: input },
  { _tag: "Closed", index, isCut }
]

const long = whole(
  "calls",
  thought(0, "hm", "s1"),
  hidden(1),
  text(2, "a"),
  call(3, "f", '{"b":1}'),
  call(4, "g", "{}")
)

describe("an answer as a chat completion", () => {
  const deltasOf = (events: ReadonlyArray<AnswerEvent>, more: Partial<AnswerFrame> = {}) =>
    events.flatMap(chatRenderer({ ...frame, ...more }))

  it("has its thoughts with what the provider wants back, and its calls by index", () => {
    const format = "anthropic-claude-v1"
    const chunks = deltasOf(long)
    const choices = chunks.flatMap((chunk) => chunk["choices"] as ReadonlyArray<JsonObject>)
    assert.deepStrictEqual(
      choices.map(({ delta }) => delta),
      [
        { role: "assistant", content: "" },
        { reasoning_content: "hm" },
        { reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s1", format, index: 0 }] },
        { reasoning_details: [{ type: "reasoning.encrypted", data: "xyz", format, index: 1 }] },
        { content: "a" },
        { tool_calls: [{ index: 0, id: "id_3", type: "function", function: { name: "f", arguments: "" } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{"b":1}' } }] },
        { tool_calls: [{ index: 1, id: "id_4", type: "function", function: { name: "g", arguments: "" } }] },
        { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
        {}
      ]
    )
    assert.strictEqual(choices.at(-1)?.["finish_reason"], "tool_calls")
    assert.deepInclude(chunks.at(-1)?.["usage"] as object, { prompt_tokens: 30, completion_tokens: 4 })
    assert.deepStrictEqual((completionOf(gathered(long), frame)["choices"] as ReadonlyArray<unknown>)[0], {
      index: 0,
      message: {
        role: "assistant",
        content: "a",
        refusal: null,
        reasoning_content: "hm",
        reasoning_details: [
          { type: "reasoning.text", text: "hm", signature: "s1", format, index: 0 },
          { type: "reasoning.encrypted", data: "xyz", format, index: 1 }
        ],
        tool_calls: [
          { id: "id_3", type: "function", function: { name: "f", arguments: '{"b":1}' } },
          { id: "id_4", type: "function", function: { name: "g", arguments: "{}" } }
        ]
      },
      logprobs: null,
      finish_reason: "tool_calls"
    })
  })

  it("has calls that alternate by their index", () => {
    const [first = [], second = []] = [call(0, "f", "{}"), call(1, "g", "[]")]
    const events = [first[0], second[0], second[1], first[1]].flatMap((event) => event ?? [])
    const calls = deltasOf(events).flatMap(
      (chunk) => JSON.stringify(chunk["choices"]).match(/"index":\d,/gu)?.[1] ?? []
    )
    assert.deepStrictEqual(calls, ['"index":0,', '"index":1,', '"index":1,', '"index":0,'])
  })

  it("has a refusal of its own, and usage only on request", () => {
    const events = whole("stop", refusal(0, "no"))
    const chunks = deltasOf(events, { includesUsage: false })
    assert.deepStrictEqual(
      chunks.flatMap((chunk) => (chunk["choices"] as ReadonlyArray<JsonObject>).map(({ delta }) => delta)),
      [{ role: "assistant", content: "" }, { refusal: "no" }, {}]
    )
    assert.notInclude(JSON.stringify(chunks), "usage")
    const [choice] = completionOf(gathered(events), frame)["choices"] as ReadonlyArray<JsonObject>
    assert.deepInclude(choice?.["message"] as object, { content: null, refusal: "no" })
  })
})

describe("an answer as a message", () => {
  it("begins with the estimate of its input, signs a thought before its end, and has the real usage at its end", () => {
    const events = long.flatMap(messagesRenderer(frame))
    const [start] = events
    const message = recordAt(start ?? {}, "message")
    assert.deepInclude(message, { id: "msg_a1", model: "demo/x" })
    assert.deepStrictEqual(message["usage"], {
      input_tokens: 77,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0
    })
    assert.deepStrictEqual(events.slice(1, 7), [
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "s1" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "redacted_thinking", data: "xyz" } },
      { type: "content_block_stop", index: 1 }
    ])
    assert.deepStrictEqual(events.slice(-2), [
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: { input_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 10, output_tokens: 4 }
      },
      { type: "message_stop" }
    ])
    assert.deepStrictEqual(messageOf(gathered(long), frame)["content"], [
      { type: "thinking", thinking: "hm", signature: "s1" },
      { type: "redacted_thinking", data: "xyz" },
      { type: "text", text: "a" },
      { type: "tool_use", id: "id_3", name: "f", input: { b: 1 } },
      { type: "tool_use", id: "id_4", name: "g", input: {} }
    ])
  })

  it.each<readonly [EndReason, string]>([
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["calls", "tool_use"],
    ["filtered", "refusal"],
    ["paused", "pause_turn"]
  ])("ends by %s as %s", (reason, expected) => {
    const events = whole(reason, text(0, "a"))
    const delta = events.flatMap(messagesRenderer(frame)).at(-2)?.["delta"]
    assert.strictEqual((delta as JsonObject)["stop_reason"], expected)
    assert.strictEqual(messageOf(gathered(events), frame)["stop_reason"], expected)
  })

  it("says a refusal as text, and stops by it", () => {
    const message = messageOf(gathered(whole("stop", refusal(0, "no"))), frame)
    assert.deepInclude(message, { content: [{ type: "text", text: "no" }], stop_reason: "refusal" })
  })
})

describe("an answer as a response", () => {
  const read = (events: ReadonlyArray<AnswerEvent>) => {
    const made = events.flatMap(responsesRenderer(frame))
    assert.deepStrictEqual(made.at(-1)?.["response"], responseOf(gathered(events), frame))
    return made
  }
  const outputOf = (events: ReadonlyArray<AnswerEvent>) =>
    recordsAt(recordAt(read(events).at(-1) ?? {}, "response"), "output")

  it("has its thoughts with what the provider wants back, sealed", () => {
    assert.deepStrictEqual(outputOf(long).slice(0, 2), [
      {
        id: "rs_a1_0",
        type: "reasoning",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: sealThought({ _tag: "Signed", text: "hm", signature: "s1" })
      },
      {
        id: "rs_a1_1",
        type: "reasoning",
        summary: [],
        encrypted_content: sealThought({ _tag: "Encrypted", data: "xyz" })
      }
    ])
    const plain = sealThought({ _tag: "Plain", text: "hm" })
    assert.strictEqual(outputOf(whole("stop", thought(0, "hm")))[0]?.["encrypted_content"], plain)
  })

  it("says a refusal in a message of its own", () => {
    const events = read(whole("stop", refusal(0, "no")))
    assert.includeMembers(
      events.map(({ type }) => type),
      ["response.refusal.delta", "response.refusal.done"]
    )
    assert.deepStrictEqual(outputOf(whole("stop", refusal(0, "no"))), [
      {
        id: "msg_a1_0",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "refusal", refusal: "no" }]
      }
    ])
  })

  it.each<readonly [EndReason, string, unknown]>([
    ["stop", "completed", null],
    ["calls", "completed", null],
    ["paused", "completed", null],
    ["length", "incomplete", { reason: "max_output_tokens" }],
    ["filtered", "incomplete", { reason: "content_filter" }]
  ])("ends by %s as %s", (reason, status, details) => {
    const last = read(whole(reason, text(0, "a"))).at(-1)
    assert.strictEqual(last?.["type"], `response.${status}`)
    assert.deepInclude(last?.["response"] as object, { status, incomplete_details: details })
  })

  it("names the item incomplete within which it was cut, streamed and whole", () => {
    const cut = whole("length", text(0, "a"), call(1, "f", '{"b', true))
    assert.deepStrictEqual(
      outputOf(cut).map(({ status }) => status),
      ["completed", "incomplete"]
    )
    const done = read(cut).filter(({ type }) => type === "response.output_item.done")
    assert.deepStrictEqual(
      done.map(({ item }) => (item as JsonObject)["status"]),
      ["completed", "incomplete"]
    )
  })

  it("calls a custom tool with the text that the model wrote for it", () => {
    const events = whole("calls", call(0, "apply_patch", '{"input":"*** Begin"}'))
    assert.deepStrictEqual(outputOf(events), [
      {
        id: "ctc_a1_0",
        type: "custom_tool_call",
        name: "apply_patch",
        input: "*** Begin",
        call_id: "id_0",
        status: "completed"
      }
    ])
    const kinds = read(events).map(({ type }) => type)
    assert.includeMembers(kinds, ["response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"])
    const plain = outputOf(whole("calls", call(0, "apply_patch", "*** Begin")))
    assert.strictEqual(plain[0]?.["input"], "*** Begin")
  })

  it("calls the caller's shell, and a function within a namespace", () => {
    const shell = call(0, "shell", '{"command":["ls","-a"],"working_directory":"/tmp"}')
    const events = whole("calls", shell, call(1, "files__read", "{}"))
    assert.deepStrictEqual(outputOf(events), [
      {
        id: "cl_a1_0",
        type: "local_shell_call",
        action: { type: "exec", env: {}, working_directory: "/tmp", command: ["ls", "-a"] },
        call_id: "id_0",
        status: "completed"
      },
      {
        id: "fc_a1_1",
        type: "function_call",
        name: "read",
        namespace: "files",
        arguments: "{}",
        call_id: "id_1",
        status: "completed"
      }
    ])
  })
})
