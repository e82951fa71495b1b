import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../../../../dev/upstream/json.ts"
import { judges } from "../../../../dev/upstream/strict/judges.ts"
import { redactedOf, signatureOf } from "../../../../dev/upstream/strict/signatures.ts"

const headers = { "anthropic-version": "2023-06-01" }
const refusalOf = (request: Json) => judges["strict-claude"].refusalOf(request, headers)

const user = { role: "user", content: "hello" }
const asked = (more: Json = {}) => ({ model: "demo/strict-claude", max_tokens: 4_096, messages: [user], ...more })
const said = (...messages: ReadonlyArray<Json>) => asked({ messages: [user, ...messages] })
const blocks = (...content: ReadonlyArray<Json>) => said({ role: "user", content })
const assistant = (...content: ReadonlyArray<Json>) => ({ role: "assistant", content })
const text = (words: string, more: Json = {}) => ({ type: "text", text: words, ...more })
const use = (id: string, more: Json = {}) => ({ type: "tool_use", id, name: "look", input: {}, ...more })
const result = (id: string, more: Json = {}) => ({ type: "tool_result", tool_use_id: id, content: "a bird", ...more })
const results = (...content: ReadonlyArray<Json>) => ({ role: "user", content })
const tool = (name: string, more: Json = {}) => ({ name, input_schema: { type: "object" }, ...more })
const tools = [tool("look")]
const cache_control = { type: "ephemeral" }
const enabled = { type: "enabled", budget_tokens: 1_024 }
const thinking = (more: Json = {}) => asked({ thinking: enabled, ...more })
const thought = { type: "thinking", thinking: "so", signature: signatureOf("so") }
const redacted = { type: "redacted_thinking", data: redactedOf("so") }
const thoughtThrough = (...content: ReadonlyArray<Json>) =>
  thinking({ messages: [user, assistant(...content), results(result("a"))] })
const picture = (source: Json) => blocks({ type: "image", source: { type: "base64", ...source } })
const document = (source: Json) => blocks({ type: "document", source: { type: "base64", ...source } })
const png = { media_type: "image/png", data: "AAAA" }
const pdf = { media_type: "application/pdf", data: "AAAA" }
const format = (schema: Json) => asked({ output_config: { format: { type: "json_schema", schema } } })
const closed = { type: "object", properties: { a: { type: "string" } }, additionalProperties: false }

const consult =
  "Please consult our documentation at https://platform.claude.com/docs/en/build-with-claude/extended-thinking"
const open = (index: number, ids: string) =>
  `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
const notFirst = (found: string) =>
  `messages.1.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. ${consult}`

type Row = readonly [what: string, passes: Json, refused: Json, message: string]

const keys: ReadonlyArray<Row> = [
  ...["frequency_penalty", "logprobs", "seed", "n", "logit_bias", "betas", "context_management"].map((key): Row => [
    `the key ${key}`,
    asked({ top_k: 1 }),
    asked({ [key]: 1 }),
    `${key}: Extra inputs are not permitted`
  ]),
  [
    "a key of a message that it does not know",
    said(assistant(text("a"))),
    said({ ...assistant(text("a")), reasoning_content: "b" }),
    "messages.1.reasoning_content: Extra inputs are not permitted"
  ],
  [
    "a key of a block that it does not know",
    blocks(text("a", { cache_control })),
    blocks(text("a", { annotations: [] })),
    "messages.1.content.0.text.annotations: Extra inputs are not permitted"
  ],
  [
    "a key of a mark that it does not know",
    asked({ system: [text("a", { cache_control: { ...cache_control, ttl: "1h" } })] }),
    asked({ system: [text("a", { cache_control: { ...cache_control, scope: "global" } })] }),
    "system.0.cache_control.ephemeral.scope: Extra inputs are not permitted"
  ],
  [
    "a key of a tool that it does not know",
    asked({ tools: [tool("look", { strict: true })] }),
    asked({ tools: [tool("look", { parameters: {} })] }),
    "tools.0.custom.parameters: Extra inputs are not permitted"
  ],
  [
    "a key of metadata other than user_id",
    asked({ metadata: { user_id: "a" } }),
    asked({ metadata: { team: "a" } }),
    "metadata.team: Extra inputs are not permitted"
  ],
  ["no max_tokens", asked(), { model: "m", messages: [user] }, "max_tokens: Field required"],
  [
    "a budget that is not given",
    thinking(),
    asked({ thinking: { type: "enabled" } }),
    "thinking.enabled.budget_tokens: Field required"
  ],
  [
    "a kind of block that it does not know",
    blocks(text("a")),
    blocks({ type: "image_url", image_url: {} }),
    "messages.1.content.0: Input tag 'image_url' found using 'type' does not match any of the expected tags: 'text', 'image', 'document', 'search_result', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result', 'tool_search_tool_result', 'container_upload'"
  ],
  [
    "an input that is a text",
    said(assistant(use("a")), results(result("a"))),
    said(assistant(use("a", { input: "{}" })), results(result("a"))),
    "messages.1.content.0.tool_use.input: Input should be a valid dictionary"
  ],
  [
    "a system prompt that is neither a text nor texts",
    asked({ system: "a" }),
    asked({ system: { text: "a" } }),
    "system: Input should be a valid list"
  ]
]

const conversations: ReadonlyArray<Row> = [
  ["a conversation of no messages", asked(), asked({ messages: [] }), "messages: at least one message is required"],
  [
    "the system among the messages",
    asked({ system: "a" }),
    said({ role: "system", content: "a" }),
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
  ],
  [
    "a developer among the messages",
    said(assistant(text("a"))),
    said({ role: "developer", content: "a" }),
    'messages: Unexpected role "developer". Allowed roles are "user" or "assistant"'
  ],
  [
    "a conversation that the assistant begins",
    said(assistant(text("a"))),
    asked({ messages: [assistant(text("a")), user] }),
    'messages: first message must use the "user" role'
  ],
  [
    "a message without content",
    said({ role: "assistant", content: "" }),
    said({ role: "assistant", content: "" }, user),
    "messages.1: all messages must have non-empty content except for the optional final assistant message"
  ],
  ["an empty text", blocks(text("a")), blocks(text("")), "messages: text content blocks must be non-empty"],
  [
    "an empty text in a result",
    said(assistant(use("a")), results(result("a", { content: [text("a")] }))),
    said(assistant(use("a")), results(result("a", { content: [text("")] }))),
    "messages: text content blocks must be non-empty"
  ],
  [
    "a text of white space",
    blocks(text(" a ")),
    blocks(text(" \n")),
    "messages: text content blocks must contain non-whitespace text"
  ],
  [
    "white space at the end of what the assistant is to go on with",
    said({ role: "assistant", content: "a" }),
    said({ role: "assistant", content: "a " }),
    "messages: final assistant content cannot end with trailing whitespace"
  ],
  [
    "a result that is not in the next turn",
    said(assistant(use("a")), results(result("a"))),
    said(assistant(use("a")), user),
    open(1, "a")
  ],
  [
    "a result after a text",
    said(assistant(use("a")), results(result("a"), text("b"))),
    said(assistant(use("a")), results(text("b"), result("a"))),
    open(1, "a")
  ],
  [
    "one result for two calls",
    said(assistant(use("a"), use("b")), results(result("a")), results(result("b"))),
    said(assistant(use("a"), use("b")), results(result("a"))),
    open(1, "b")
  ],
  [
    "a result without a call",
    said(assistant(use("a")), results(result("a"))),
    said(assistant(use("a")), results(result("a"), result("b"))),
    "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: b. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
  ],
  [
    "the id of a call with a dot",
    said(assistant(use("a-b_1")), results(result("a-b_1"))),
    said(assistant(use("a.b")), results(result("a.b"))),
    "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
  ],
  [
    "two calls of one id",
    said(assistant(use("a"), use("b")), results(result("a"), result("b"))),
    said(assistant(use("a"), use("a")), results(result("a"), result("a"))),
    "messages: `tool_use` ids must be unique"
  ],
  [
    "a picture of a type that it does not know",
    picture(png),
    picture({ ...png, media_type: "image/tiff" }),
    "messages.1.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
  ],
  [
    "a picture in broken base64",
    picture(png),
    picture({ ...png, data: "data:image/png;base64,AAAA" }),
    "messages.1.content.0.image.source.base64.data: The image was not valid base64 data"
  ],
  [
    "a picture of a result in broken base64",
    said(
      assistant(use("a")),
      results(result("a", { content: [{ type: "image", source: { type: "base64", ...png } }] }))
    ),
    said(
      assistant(use("a")),
      results(result("a", { content: [{ type: "image", source: { type: "base64", ...png, data: "A" } }] }))
    ),
    "messages.2.content.0.tool_result.content.0.image.source.base64.data: The image was not valid base64 data"
  ],
  [
    "a document of a type that it does not know",
    document(pdf),
    document({ ...pdf, media_type: "text/html" }),
    "messages.1.content.0.document.source.base64.media_type: Input should be 'application/pdf'"
  ],
  [
    "a document in broken base64",
    document(pdf),
    document({ ...pdf, data: "" }),
    "messages.1.content.0.document.source.base64.data: The PDF was not valid base64 data"
  ]
]

const settings: ReadonlyArray<Row> = [
  ["a temperature above 1", asked({ temperature: 1 }), asked({ temperature: 1.5 }), "temperature: range: 0..1"],
  ["a top_p above 1", asked({ top_p: 1 }), asked({ top_p: 1.5 }), "top_p: range: 0..1"],
  [
    "temperature and top_p at once",
    asked({ temperature: 1 }),
    asked({ temperature: 1, top_p: 1 }),
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
  ],
  [
    "max_tokens below 1",
    asked({ max_tokens: 1 }),
    asked({ max_tokens: 0 }),
    "max_tokens: must be greater than or equal to 1"
  ],
  [
    "a stop sequence of white space",
    asked({ stop_sequences: ["\nUser:"] }),
    asked({ stop_sequences: ["a", "\n"] }),
    "stop_sequences: each stop sequence must contain non-whitespace"
  ],
  [
    "a user_id of more than 256 characters",
    asked({ metadata: { user_id: "x".repeat(256) } }),
    asked({ metadata: { user_id: "x".repeat(257) } }),
    "metadata.user_id: String should have at most 256 characters"
  ],
  [
    "the name of a tool with a dot",
    asked({ tools: [tool("x".repeat(128))] }),
    asked({ tools: [tool("look.up")] }),
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
  ],
  [
    "two tools of one name",
    asked({ tools }),
    asked({ tools: [...tools, ...tools] }),
    "tools: Tool names must be unique."
  ],
  [
    "a schema of a tool without a type",
    asked({ tools }),
    asked({ tools: [tool("look", { input_schema: {} })] }),
    "tools.0.custom.input_schema.type: Field required"
  ],
  [
    "a schema of a tool that is a list",
    asked({ tools }),
    asked({ tools: [tool("look", { input_schema: { type: "array" } })] }),
    "tools.0.custom.input_schema.type: Input should be 'object'"
  ],
  [
    "tool_choice without tools",
    asked({ tools, tool_choice: { type: "auto" } }),
    asked({ tool_choice: { type: "auto" } }),
    "tool_choice may only be specified while providing tools"
  ],
  [
    "the choice of a tool that is not declared",
    asked({ tools, tool_choice: { type: "tool", name: "look" } }),
    asked({ tools, tool_choice: { type: "tool", name: "see" } }),
    "Tool 'see' not found in provided tools"
  ],
  [
    "more than four marks",
    asked({ system: [text("a", { cache_control })], tools: [tool("look", { cache_control })] }),
    asked({
      system: [text("a", { cache_control }), text("b", { cache_control })],
      tools: [tool("look", { cache_control })],
      messages: [{ role: "user", content: [text("a", { cache_control }), text("b", { cache_control })] }]
    }),
    "A maximum of 4 blocks with cache_control may be provided. Found 5."
  ],
  [
    "an effort that it does not know",
    asked({ output_config: { effort: "max" } }),
    asked({ output_config: { effort: "minimal" } }),
    "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
  ],
  [
    "a format that it does not know",
    format(closed),
    asked({ output_config: { format: { type: "json_object", schema: closed } } }),
    "output_config.format.type: Input should be 'json_schema'"
  ],
  [
    "a schema of an answer that is open",
    format(closed),
    format({ type: "object", properties: {} }),
    "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
  ]
]

const thoughts: ReadonlyArray<Row> = [
  [
    "a budget of less than 1024 tokens",
    thinking(),
    asked({ thinking: { ...enabled, budget_tokens: 1_023 } }),
    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
  ],
  [
    "a budget as large as the answer",
    thinking({ max_tokens: 1_025 }),
    thinking({ max_tokens: 1_024 }),
    `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. ${consult}`
  ],
  [
    "a temperature beside thinking",
    thinking({ temperature: 1 }),
    thinking({ temperature: 0.5 }),
    `\`temperature\` may only be set to 1 when thinking is enabled. ${consult}`
  ],
  [
    "top_k beside thinking",
    asked({ top_k: 5 }),
    thinking({ top_k: 5 }),
    `\`top_k\` must be unset when thinking is enabled. ${consult}`
  ],
  [
    "a low top_p beside thinking",
    thinking({ top_p: 0.95 }),
    thinking({ top_p: 0.9 }),
    `\`top_p\` must be greater than or equal to 0.95 or unset when thinking is enabled. ${consult}`
  ],
  [
    "a forced tool beside thinking",
    thinking({ tools, tool_choice: { type: "auto" } }),
    thinking({ tools, tool_choice: { type: "any" } }),
    "Thinking may not be enabled when tool_choice forces tool use."
  ],
  [
    "a forced tool beside thinking as the model likes",
    asked({ thinking: { type: "adaptive" }, tools, tool_choice: { type: "none" } }),
    asked({ thinking: { type: "adaptive" }, tools, tool_choice: { type: "tool", name: "look" } }),
    "Thinking may not be enabled when tool_choice forces tool use."
  ],
  [
    "calls without the thought that they came of",
    thoughtThrough(thought, use("a")),
    thoughtThrough(use("a")),
    notFirst("tool_use")
  ],
  [
    "calls with their thought behind a text",
    thoughtThrough(redacted, text("b"), use("a")),
    thoughtThrough(text("b"), thought, use("a")),
    notFirst("text")
  ],
  [
    "a thought with another signature",
    thoughtThrough(thought, use("a")),
    thoughtThrough({ ...thought, signature: "c2lnbmVk" }, use("a")),
    "messages.1.content.0: Invalid `signature` in `thinking` block"
  ],
  [
    "a thought that was changed",
    said(assistant(thought, text("a"))),
    said(assistant({ ...thought, thinking: "so so" }, text("a"))),
    "messages.1.content.0: Invalid `signature` in `thinking` block"
  ],
  [
    "a hidden thought that was changed",
    thoughtThrough(redacted, use("a")),
    thoughtThrough({ ...redacted, data: `x${redacted.data}` }, use("a")),
    "messages.1.content.0: Invalid `data` in `redacted_thinking` block"
  ]
]

const rows = [...keys, ...conversations, ...settings, ...thoughts]

describe("a model with Anthropic's rules", () => {
  it.each(rows)("refuses %s, and not its neighbour", (_what, passes, refused, message) => {
    assert.isUndefined(refusalOf(passes))
    assert.deepStrictEqual(refusalOf(refused), { message, param: null, code: null })
  })

  it("refuses a request without its version", () => {
    assert.strictEqual(judges["strict-claude"].refusalOf(asked())?.message, "anthropic-version: header is required")
  })

  it("takes the keys of a beta that the request names", () => {
    const request = asked({ context_management: { edits: [] } })
    const beta = { ...headers, "anthropic-beta": "context-management-2025-06-27" }
    assert.isUndefined(judges["strict-claude"].refusalOf(request, beta))
  })

  it("counts a conversation without max_tokens, and with nothing about its answer", () => {
    const count = (request: Json) => judges["strict-claude"].refusalOf(request, headers, true)
    assert.isUndefined(count({ model: "m", messages: [user], tools }))
    assert.strictEqual(count(asked())?.message, "max_tokens: Extra inputs are not permitted")
  })

  it("wants no thought back where it thinks as it likes, or in turns before the last", () => {
    const before = [user, assistant(use("a")), results(result("a")), assistant(text("b")), user]
    assert.isUndefined(refusalOf(thinking({ messages: before })))
    const adaptive = { thinking: { type: "adaptive" }, messages: [user, assistant(use("a")), results(result("a"))] }
    assert.isUndefined(refusalOf(asked(adaptive)))
  })

  it("names a public page for each rule, and each rule is tried", () => {
    const { rules } = judges["strict-claude"]
    for (const { refuses, source } of rules) assert.match(source.url, /^https:\/\//u, refuses)
    const untried = rules.filter(({ check }) => rows.every(([, , refused]) => check(refused, headers) === undefined))
    assert.deepStrictEqual(
      untried.map(({ refuses }) => refuses),
      ["a request without the header anthropic-version"]
    )
  })
})
