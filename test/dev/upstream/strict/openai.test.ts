import { assert, describe, it } from "@effect/vitest"
import { judges } from "../../../../dev/upstream/strict/judges.ts"
import type { Json } from "../../../../dev/upstream/json.ts"

const user = { role: "user", content: "hello" }
const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } })
const calling = (...ids: ReadonlyArray<string>) => ({ role: "assistant", content: null, tool_calls: ids.map(call) })
const result = (id: string, more: Json = {}) => ({ role: "tool", tool_call_id: id, content: "a bird", ...more })
const tool = (name: string, more: Json = {}) => ({ type: "function", function: { name, ...more } })
const picture = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
const tools = [tool("look")]
const chat = (more: Json = {}) => ({ model: "demo/strict", messages: [user], ...more })
const said = (...messages: ReadonlyArray<Json>) => chat({ messages: [user, ...messages] })
const object = (more: Json = {}) => ({ type: "object", properties: { a: { type: "string" } }, ...more })
const strict = object({ required: ["a"], additionalProperties: false })
const formed = (schema: Json) =>
  chat({ response_format: { type: "json_schema", json_schema: { name: "bird", strict: true, schema } } })
const metadata = (count: number, length = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "x".repeat(length)]))
const schemaOf = (json_schema: Json) => chat({ response_format: { type: "json_schema", json_schema } })

type Row = readonly [what: string, passes: Json, refused: Json, message: string, param: string | null, code?: string]

const given: ReadonlyArray<Row> = [
  [
    "a key that it does not know",
    chat({ top_p: 1 }),
    chat({ top_k: 1 }),
    "Unknown parameter: 'top_k'.",
    "top_k",
    "unknown_parameter"
  ],
  [
    "a key in a part that it does not know",
    said({ role: "user", content: [{ type: "text", text: "a" }] }),
    said({ role: "user", content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }] }),
    "Unknown parameter: 'messages[1].content[0].cache_control'.",
    "messages[1].content[0].cache_control",
    "unknown_parameter"
  ],
  [
    "a key of a message that it does not know",
    said({ role: "assistant", content: "a" }),
    said({ role: "assistant", content: "a", reasoning_content: "b" }),
    "Unknown parameter: 'messages[1].reasoning_content'.",
    "messages[1].reasoning_content",
    "unknown_parameter"
  ],
  [
    "a key of a tool that it does not know",
    chat({ tools }),
    chat({ tools: [{ ...tool("look"), cache_control: {} }] }),
    "Unknown parameter: 'tools[0].cache_control'.",
    "tools[0].cache_control",
    "unknown_parameter"
  ],
  [
    "a key of the options of a stream that it does not know",
    chat({ stream: true, stream_options: { include_usage: true } }),
    chat({ stream: true, stream_options: { usage: true } }),
    "Unknown parameter: 'stream_options.usage'.",
    "stream_options.usage",
    "unknown_parameter"
  ],
  [
    "a request without messages",
    chat(),
    { model: "demo/strict" },
    "Missing required parameter: 'messages'.",
    "messages",
    "missing_required_parameter"
  ],
  [
    "a schema without a name",
    schemaOf({ name: "bird" }),
    schemaOf({ schema: {} }),
    "Missing required parameter: 'response_format.json_schema.name'.",
    "response_format.json_schema.name",
    "missing_required_parameter"
  ],
  [
    "a role that it does not know",
    said({ role: "developer", content: "a" }),
    said({ role: "king", content: "a" }),
    "Invalid value: 'king'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    "messages[1].role",
    "invalid_value"
  ],
  [
    "a kind of part that it does not know",
    said({ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] }),
    said({ role: "user", content: [{ type: "image", source: {} }] }),
    "Invalid value: 'image'. Supported values are: 'text', 'image_url', 'input_audio', and 'file'.",
    "messages[1].content[0].type",
    "invalid_value"
  ],
  [
    "a value of another type",
    chat({ temperature: 1 }),
    chat({ temperature: "hot" }),
    "Invalid type for 'temperature': expected a decimal, but got a string instead.",
    "temperature",
    "invalid_type"
  ],
  [
    "content of another type",
    chat(),
    chat({ messages: [{ role: "user", content: 1 }] }),
    "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
    "messages[0].content",
    "invalid_type"
  ],
  [
    "a temperature above 2",
    chat({ temperature: 2 }),
    chat({ temperature: 2.5 }),
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
    "temperature",
    "decimal_above_max_value"
  ],
  [
    "a penalty below -2",
    chat({ presence_penalty: -2 }),
    chat({ presence_penalty: -3 }),
    "Invalid 'presence_penalty': decimal below minimum value. Expected a value >= -2, but got -3 instead.",
    "presence_penalty",
    "decimal_below_min_value"
  ],
  [
    "a penalty above 2",
    chat({ frequency_penalty: 2 }),
    chat({ frequency_penalty: 3 }),
    "Invalid 'frequency_penalty': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
    "frequency_penalty",
    "decimal_above_max_value"
  ],
  [
    "a top_p above 1",
    chat({ top_p: 1 }),
    chat({ top_p: 1.5 }),
    "Invalid 'top_p': decimal above maximum value. Expected a value <= 1, but got 1.5 instead.",
    "top_p",
    "decimal_above_max_value"
  ],
  [
    "more than eight answers",
    chat({ n: 8 }),
    chat({ n: 9 }),
    "Invalid 'n': integer above maximum value. Expected a value <= 8, but got 9 instead.",
    "n",
    "integer_above_max_value"
  ],
  [
    "more than twenty top_logprobs",
    chat({ logprobs: true, top_logprobs: 20 }),
    chat({ logprobs: true, top_logprobs: 21 }),
    "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20, but got 21 instead.",
    "top_logprobs",
    "integer_above_max_value"
  ],
  [
    "max_tokens below 1",
    chat({ max_tokens: 1 }),
    chat({ max_tokens: 0 }),
    "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
    "max_tokens",
    "integer_below_min_value"
  ],
  [
    "max_completion_tokens below 1",
    chat({ max_completion_tokens: 1 }),
    chat({ max_completion_tokens: 0 }),
    "Invalid 'max_completion_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
    "max_completion_tokens",
    "integer_below_min_value"
  ],
  ...(["user", "safety_identifier", "prompt_cache_key"] as const).map((key): Row => [
    `${key} of more than 64 characters`,
    chat({ [key]: "x".repeat(64) }),
    chat({ [key]: "x".repeat(150) }),
    `Invalid '${key}': string too long. Expected a string with maximum length 64, but got a string with length 150 instead.`,
    key,
    "string_above_max_length"
  ]),
  [
    "both limits of an answer",
    chat({ max_completion_tokens: 9 }),
    chat({ max_completion_tokens: 9, max_tokens: 9 }),
    "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    null,
    "invalid_parameter_combination"
  ],
  [
    "more than four stop words",
    chat({ stop: ["a", "b", "c", "d"] }),
    chat({ stop: ["a", "b", "c", "d", "e"] }),
    "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.",
    "stop",
    "array_above_max_length"
  ],
  [
    "top_logprobs without logprobs",
    chat({ logprobs: true, top_logprobs: 2 }),
    chat({ top_logprobs: 2 }),
    "Invalid value for 'top_logprobs': 'top_logprobs' is only allowed when 'logprobs' is enabled.",
    "top_logprobs"
  ],
  [
    "options of a stream without one",
    chat({ stream: true, stream_options: {} }),
    chat({ stream_options: {} }),
    "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    "stream_options"
  ],
  [
    "metadata of more than 16 pairs",
    chat({ metadata: metadata(16) }),
    chat({ metadata: metadata(17) }),
    "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with 17 properties instead.",
    "metadata",
    "object_above_max_properties"
  ],
  [
    "metadata with a value of more than 512 characters",
    chat({ metadata: metadata(1, 512) }),
    chat({ metadata: metadata(1, 513) }),
    "Invalid 'metadata.k0': string too long. Expected a string with maximum length 512, but got a string with length 513 instead.",
    "metadata.k0",
    "string_above_max_length"
  ],
  [
    "an empty list of tools",
    chat({ tools }),
    chat({ tools: [] }),
    "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    "tools",
    "empty_array"
  ],
  [
    "the name of a tool with a dot",
    chat({ tools: [tool("look-up_2")] }),
    chat({ tools: [tool("look.up")] }),
    "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    "tools[0].function.name",
    "invalid_value"
  ],
  [
    "the name of a tool of more than 64 characters",
    chat({ tools: [tool("x".repeat(64))] }),
    chat({ tools: [tool("x".repeat(65))] }),
    "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    "tools[0].function.name",
    "string_above_max_length"
  ],
  ...(["tool_choice", "parallel_tool_calls"] as const).map((key): Row => {
    const value = key === "tool_choice" ? "auto" : false
    return [
      `${key} without tools`,
      chat({ tools, [key]: value }),
      chat({ [key]: value }),
      `Invalid value for '${key}': '${key}' is only allowed when 'tools' are specified.`,
      key
    ]
  }),
  [
    "a choice that it does not know",
    chat({ tools, tool_choice: "required" }),
    chat({ tools, tool_choice: "any" }),
    "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.",
    "tool_choice",
    "invalid_value"
  ],
  [
    "the choice of a tool that is not declared",
    chat({ tools, tool_choice: tool("look") }),
    chat({ tools, tool_choice: tool("see") }),
    "Tool choice 'see' not found in 'tools' parameter.",
    "tool_choice"
  ],
  [
    "a conversation of no messages",
    chat(),
    chat({ messages: [] }),
    "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    "messages",
    "empty_array"
  ],
  [
    "an empty text",
    said({ role: "user", content: [{ type: "text", text: "a" }] }),
    said({ role: "user", content: [{ type: "text", text: "" }] }),
    "Invalid 'messages[1].content[0].text': string too short. Expected a string with minimum length 1, but got an empty string instead.",
    "messages[1].content[0].text",
    "string_below_min_length"
  ],
  [
    "content of no parts",
    said({ role: "user", content: [{ type: "text", text: "a" }] }),
    said({ role: "user", content: [] }),
    "Invalid 'messages[1].content': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    "messages[1].content",
    "empty_array"
  ],
  [
    "an assistant that says nothing",
    said({ role: "assistant", content: "a" }),
    said({ role: "assistant", content: null }),
    "Invalid value for 'messages[1].content': expected a string, got null.",
    "messages[1].content"
  ],
  [
    "a picture in a result",
    said(calling("a"), result("a"), { role: "user", content: [picture] }),
    said(calling("a"), result("a", { content: [picture] })),
    "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
    "messages[2]",
    "invalid_value"
  ],
  [
    "the id of a call of more than 40 characters",
    said(calling("x".repeat(40)), result("x".repeat(40))),
    said(calling("x".repeat(41)), result("x".repeat(41))),
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
    "messages[1].tool_calls[0].id",
    "string_above_max_length"
  ],
  [
    "a result without a call before it",
    said(calling("a"), result("a")),
    said(result("a")),
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "messages.[1].role"
  ],
  [
    "a result of another call",
    said(calling("a", "b"), result("b"), result("a")),
    said(calling("a"), result("a"), result("b")),
    "Invalid parameter: 'tool_call_id' of 'b' not found in 'tool_calls' of previous message.",
    "messages.[3].tool_call_id"
  ],
  [
    "calls that are not all answered right after",
    said(calling("a", "b"), result("a"), result("b"), user),
    said(calling("a", "b"), result("a"), user, result("b")),
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "messages.[4].role"
  ],
  [
    "calls that are not all answered",
    said(calling("a", "b"), result("a"), result("b"), user),
    said(calling("a", "b"), result("a"), user),
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b",
    "messages.[3].role"
  ],
  [
    "a strict schema of an answer that is open",
    formed(strict),
    formed(object({ required: ["a"] })),
    "Invalid schema for response_format 'bird': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    "response_format"
  ],
  [
    "a strict schema of an answer that is open within",
    formed(object({ properties: { a: strict }, required: ["a"], additionalProperties: false })),
    formed(object({ properties: { a: object() }, required: ["a"], additionalProperties: false })),
    "Invalid schema for response_format 'bird': In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false.",
    "response_format"
  ],
  [
    "a strict schema of a tool that leaves a key out",
    chat({ tools: [tool("look", { strict: true, parameters: strict })] }),
    chat({ tools: [tool("look", { strict: true, parameters: object({ additionalProperties: false }) })] }),
    "Invalid schema for function 'look': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.",
    "tools[0].function.parameters",
    "invalid_function_parameters"
  ],
  [
    "a JSON object that nobody asks for",
    chat({ messages: [{ role: "user", content: "as JSON" }], response_format: { type: "json_object" } }),
    chat({ response_format: { type: "json_object" } }),
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    "messages"
  ]
]

const rows = given.map(([what, passes, refused, message, param, code = null]) => ({
  what,
  passes,
  refused,
  refusal: { message, param, code }
}))

describe("a model with OpenAI's rules", () => {
  it.each(rows)("refuses $what, and not its neighbour", ({ passes, refused, refusal }) => {
    assert.isUndefined(judges.strict.refusalOf(passes))
    assert.deepStrictEqual(judges.strict.refusalOf(refused), refusal)
  })

  it("names a public page for each rule, and each rule is tried", () => {
    for (const { refuses, source } of judges.strict.rules) assert.match(source.url, /^https:\/\//u, refuses)
    const untried = judges.strict.rules.filter(({ check }) =>
      rows.every(({ refused }) => check(refused, {}) === undefined)
    )
    assert.deepStrictEqual(
      untried.map(({ refuses }) => refuses),
      []
    )
  })

  it("takes null for a key that is left out", () => {
    const none = { temperature: null, tool_choice: null, tools: null, user: null, stop: null, stream_options: null }
    assert.isUndefined(judges.strict.refusalOf(chat(none)))
  })
})
