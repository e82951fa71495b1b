import { assert, describe, it } from "@effect/vitest"
import { eventReader, readMessage } from "../../../../services/model-gateway/answers/read-events.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { lines } from "./event-lines.ts"

const start: JsonObject = {
  type: "message_start",
  message: { id: "m1", usage: { input_tokens: 3, cache_read_input_tokens: 2, output_tokens: 1 } }
}

const block = (index: number, content: JsonObject, ...deltas: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => [
  { type: "content_block_start", index, content_block: content },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index }
]

const ended = (reason: string): ReadonlyArray<JsonObject> => [
  { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: "message_stop" }
]

const read = (events: ReadonlyArray<JsonObject>) => {
  const reader = eventReader()
  return lines([...events.flatMap(reader.push), ...reader.end()])
}

describe("the events of Anthropic's API", () => {
  it.each<readonly [string, ReadonlyArray<JsonObject>, ReadonlyArray<string>]>([
    [
      "are a thought with its signature, and text",
      [
        ...block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "hm" },
          { type: "signature_delta", signature: "s1" }
        ),
        ...block(1, { type: "text", text: "" }, { type: "text_delta", text: "a" })
      ],
      ["0 opened Reasoning", "0 + hm", "0 sealed s1", "0 closed", "1 opened Text", "1 + a", "1 closed"]
    ],
    [
      "are a thought that is hidden",
      block(0, { type: "redacted_thinking", data: "xyz" }),
      ["0 opened Encrypted xyz", "0 closed"]
    ],
    [
      "are calls, one of them without arguments",
      [
        ...block(
          0,
          { type: "tool_use", id: "a", name: "f", input: {} },
          { type: "input_json_delta", partial_json: "" },
          { type: "input_json_delta", partial_json: '{"b":1}' }
        ),
        ...block(1, { type: "tool_use", id: "b", name: "g", input: {} })
      ],
      ["0 opened ToolCall a f", '0 + {"b":1}', "0 closed", "1 opened ToolCall b g", "1 + {}", "1 closed"]
    ],
    [
      "are blocks of tools that the provider runs, and citations, which are passed over",
      [
        ...block(
          0,
          { type: "tool_use", id: "a", name: "f", input: {} },
          { type: "input_json_delta", partial_json: "{}" }
        ),
        ...block(
          1,
          { type: "server_tool_use", id: "s", name: "web_search", input: {} },
          { type: "input_json_delta", partial_json: '{"query":1}' }
        ),
        ...block(2, { type: "web_search_tool_result", tool_use_id: "s", content: [] }),
        ...block(
          3,
          { type: "text", text: "" },
          { type: "text_delta", text: "a" },
          { type: "citations_delta", citation: {} }
        )
      ],
      ["0 opened ToolCall a f", "0 + {}", "0 closed", "3 opened Text", "3 + a", "3 closed"]
    ]
  ])("%s", (_, events, expected) => {
    const found = read([start, { type: "ping" }, ...events, ...ended("end_turn")])
    const told = found.filter((line) => !line.startsWith("used"))
    assert.deepStrictEqual(told, ["begun m1", ...expected, "ended stop"])
  })

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "calls"],
    ["refusal", "filtered"],
    ["pause_turn", "paused"]
  ])("end by %s as %s, once", (reason, expected) => {
    const found = read([start, ...ended(reason)])
    assert.deepStrictEqual(found, ["begun m1", "used 5 1", "used 5 7", `ended ${expected}`])
  })

  it("keep what is known of usage, where a later event says null of it", () => {
    const usage = { input_tokens: null, cache_read_input_tokens: null, output_tokens: 7 }
    assert.deepStrictEqual(read([start, { type: "message_delta", delta: {}, usage }]).slice(1, 3), [
      "used 5 1",
      "used 5 7"
    ])
  })

  it("end within the last block, where the answer is too long", () => {
    const text = { type: "text", text: "" }
    const events = [
      start,
      ...block(0, text, { type: "text_delta", text: "a" }),
      ...block(1, text),
      ...ended("max_tokens")
    ]
    assert.deepStrictEqual(
      read(events).filter((line) => line.includes("closed")),
      ["0 closed", "1 closed cut"]
    )
  })

  it("may be cut within a block, or between two", () => {
    const events = [start, ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "a" })]
    for (const given of [events, events.slice(0, -1)]) {
      const reader = eventReader()
      for (const event of given) reader.push(event)
      assert.deepStrictEqual(lines([...reader.cut(), ...reader.end()]), ["0 closed cut", "ended length"])
    }
  })

  it("make no sense with a call that has no name", () => {
    assert.include(read([start, ...block(0, { type: "tool_use", id: "a", input: {} })]), "failed a call without a name")
  })
})

describe("a whole message", () => {
  it("is read as all its events at once", () => {
    const message = {
      id: "m1",
      content: [
        { type: "thinking", thinking: "hm", signature: "s1" },
        { type: "redacted_thinking", data: "xyz" },
        { type: "text", text: "a" },
        { type: "tool_use", id: "a", name: "f", input: { b: 1 } },
        { type: "tool_use", id: "b", name: "g", input: {} }
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 3, output_tokens: 7 }
    }
    assert.deepStrictEqual(lines(readMessage(message)), [
      "begun m1",
      "used 3 7",
      "0 opened Reasoning",
      "0 + hm",
      "0 sealed s1",
      "0 closed",
      "1 opened Encrypted xyz",
      "1 closed",
      "2 opened Text",
      "2 + a",
      "2 closed",
      "3 opened ToolCall a f",
      '3 + {"b":1}',
      "3 closed",
      "4 opened ToolCall b g",
      "4 + {}",
      "4 closed",
      "ended calls"
    ])
  })
})
