/**
 * Requests between OpenAI's chat and Anthropic's messages. In Anthropic's shape roles alternate and tool results belong
 * to the user; in OpenAI's shape tool results become messages of their own. Pure.
 */
import { Result } from "effect"
import { parseJsonText, weightMaxOf } from "#contracts"
import {
  isRecord,
  type JsonObject,
  numberAt,
  present,
  recordAt,
  recordsAt,
  textAt,
  Untranslatable,
  without
} from "./json.ts"

const budgets: Readonly<Record<string, number>> = { low: 1_024, medium: 4_096, high: 16_384, xhigh: 32_768 }
const thinkingBudgetMin = 1_024
// Keys that mean nothing in the other shape, or have another name there.
const ownWords = [
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "user",
  "n",
  "stream_options",
  "store",
  "metadata",
  "reasoning_effort",
  "response_format"
]

export const chatToMessages = (request: JsonObject): Result.Result<JsonObject, Untranslatable> => {
  if ((numberAt(request, "n") ?? 1) > 1) {
    return Result.fail(new Untranslatable({ param: "n", reason: "this model gives one answer at a time" }))
  }
  const messages = recordsAt(request, "messages")
  const system = messages.filter(({ role }) => role === "system" || role === "developer")
  const turns = messages.filter(({ role }) => role !== "system" && role !== "developer")
  const outputTokens = numberAt(request, "max_completion_tokens") ?? numberAt(request, "max_tokens")
  const tools = recordsAt(request, "tools")
  const { stop } = request
  const user = textAt(request, "user")
  return Result.succeed(
    present({
      ...without(request, ...ownWords),
      max_tokens: outputTokens,
      system: system.length === 0 ? undefined : system.map(({ content }) => systemText(content)).join("\n"),
      messages: joined(turns.map(anthropicMessage)),
      stop_sequences: typeof stop === "string" ? [stop] : (stop ?? undefined),
      tools: tools.length === 0 ? undefined : tools.map(anthropicTool),
      tool_choice: tools.length === 0 ? undefined : anthropicChoice(request),
      metadata: user === undefined ? undefined : { user_id: user },
      thinking: thinkingOf(textAt(request, "reasoning_effort"), outputTokens ?? 0),
      output_config: outputOf(recordAt(request, "response_format"))
    })
  )
}

const anthropicTool = (tool: JsonObject) => {
  const declared = recordAt(tool, "function")
  return present({
    name: declared["name"],
    description: declared["description"],
    input_schema: declared["parameters"] ?? { type: "object", properties: {} }
  })
}

const anthropicChoice = (request: JsonObject) => {
  const { tool_choice: choice } = request
  const serial = request["parallel_tool_calls"] === false ? { disable_parallel_tool_use: true } : {}
  if (choice === "required") return { type: "any", ...serial }
  if (choice === "none") return { type: "none" }
  if (isRecord(choice)) return { type: "tool", name: recordAt(choice, "function")["name"], ...serial }
  return choice === "auto" || "disable_parallel_tool_use" in serial ? { type: "auto", ...serial } : undefined
}

const thinkingOf = (effort: string | undefined, outputTokens: number) => {
  const ofEffort = effort === undefined ? undefined : budgets[effort]
  if (ofEffort === undefined) return undefined
  // Thinking counts as output, and must leave room for the answer.
  const budget = Math.min(ofEffort, outputTokens - 1)
  return budget < thinkingBudgetMin ? undefined : { type: "enabled", budget_tokens: budget }
}

const outputOf = (format: JsonObject) =>
  format["type"] === "json_schema"
    ? { format: { type: "json_schema", schema: recordAt(format, "json_schema")["schema"] } }
    : undefined

interface AnthropicMessage {
  readonly role: "user" | "assistant"
  readonly content: ReadonlyArray<JsonObject>
}

const anthropicMessage = (message: JsonObject): AnthropicMessage => {
  if (message["role"] === "tool" || message["role"] === "function") {
    const content = blocksOf(message["content"])
    return { role: "user", content: [{ type: "tool_result", tool_use_id: message["tool_call_id"], content }] }
  }
  if (message["role"] !== "assistant") return { role: "user", content: blocksOf(message["content"]) }
  const calls = recordsAt(message, "tool_calls").map((call) => {
    const { name, arguments: input } = recordAt(call, "function")
    return { type: "tool_use", id: call["id"], name, input: argumentsOf(input) }
  })
  return { role: "assistant", content: [...blocksOf(message["content"]), ...calls] }
}

// They are written again, by a function that recurses.
const argumentLimits = { depthMax: 96, weightMax: weightMaxOf(1_048_576) }

/** The arguments that a model wrote may not be JSON; they then stay a text. */
export const argumentsOf = (input: unknown): unknown => {
  if (typeof input !== "string" || input.trim() === "") return {}
  const parsed = Result.getOrUndefined(parseJsonText(input, argumentLimits))
  return isRecord(parsed) ? parsed : { arguments: input }
}

const blocksOf = (content: unknown): ReadonlyArray<JsonObject> => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter(isRecord).flatMap(blockOf) : []
}

const dataUrl = /^data:([a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,100});base64,/iu

/** For data in the request itself: addresses were fetched before. */
const sourceOf = (url: string, kind: "image" | "document"): JsonObject => {
  const found = dataUrl.exec(url)
  const [head = "", mediaType = ""] = found ?? []
  const data = url.slice(head.length)
  return kind === "document" && mediaType.startsWith("text/")
    ? { type: "text", media_type: "text/plain", data: Buffer.from(data, "base64").toString("utf8") }
    : { type: "base64", media_type: mediaType, data }
}

const blockOf = (part: JsonObject): ReadonlyArray<JsonObject> => {
  switch (part["type"]) {
    case "text":
    case "refusal": {
      const text = textAt(part, "text") ?? textAt(part, "refusal") ?? ""
      return text === "" ? [] : [present({ type: "text", text, cache_control: part["cache_control"] })]
    }
    case "image_url":
    case "input_image": {
      const { image_url: image } = part
      const url = typeof image === "string" ? image : textAt(recordAt(part, "image_url"), "url")
      return [present({ type: "image", source: sourceOf(url ?? "", "image"), cache_control: part["cache_control"] })]
    }
    case "file":
    case "input_file": {
      const { file_data: data, filename } = part["type"] === "file" ? recordAt(part, "file") : part
      const source = sourceOf(typeof data === "string" ? data : "", "document")
      return [present({ type: "document", source, title: filename })]
    }
    default:
      return [part]
  }
}

/** Joins messages of one role that follow each other. */
const joined = (messages: ReadonlyArray<AnthropicMessage>): ReadonlyArray<AnthropicMessage> => {
  const turns: Array<{ readonly role: AnthropicMessage["role"]; readonly content: Array<JsonObject> }> = []
  for (const { role, content } of messages) {
    const last = turns.at(-1)
    if (last?.role === role) for (const block of content) last.content.push(block)
    else turns.push({ role, content: [...content] })
  }
  return turns.filter(({ content }) => content.length > 0)
}

/** `max_tokens` keeps its name: both vendors have it. */
export const messagesToChat = (request: JsonObject): Result.Result<JsonObject, Untranslatable> => {
  const foreign = recordsAt(request, "tools").find(({ type }) => type !== undefined && type !== "custom")
  if (foreign !== undefined) {
    const reason = `the tool type ${JSON.stringify(foreign["type"])} is not available for this model`
    return Result.fail(new Untranslatable({ param: "tools", reason }))
  }
  const system = systemText(request["system"])
  const tools = recordsAt(request, "tools")
  const choice = recordAt(request, "tool_choice")
  const user = textAt(recordAt(request, "metadata"), "user_id")
  const rest = without(
    request,
    "system",
    "messages",
    "tools",
    "tool_choice",
    "metadata",
    "stop_sequences",
    "thinking",
    "output_config",
    "service_tier",
    "n"
  )
  return Result.succeed(
    present({
      ...rest,
      messages: [
        ...(system === "" ? [] : [{ role: "system", content: system }]),
        ...recordsAt(request, "messages").flatMap(chatMessages)
      ],
      stop: request["stop_sequences"] ?? undefined,
      tools: tools.length === 0 ? undefined : tools.map(chatTool),
      tool_choice: chatChoice(choice),
      parallel_tool_calls: choice["disable_parallel_tool_use"] === true ? false : undefined,
      reasoning_effort: effortOf(recordAt(request, "thinking")),
      user
    })
  )
}

const systemText = (system: unknown): string => {
  if (typeof system === "string") return system
  const parts = Array.isArray(system) ? system.filter(isRecord) : []
  return parts.map((part) => textAt(part, "text") ?? "").join("\n")
}

const chatTool = (tool: JsonObject) => ({
  type: "function",
  function: present({
    name: tool["name"],
    description: tool["description"],
    parameters: tool["input_schema"] ?? { type: "object" },
    strict: tool["strict"]
  })
})

const chatChoice = (choice: JsonObject) => {
  switch (choice["type"]) {
    case "any":
      return "required"
    case "tool":
      return { type: "function", function: { name: choice["name"] } }
    case "auto":
    case "none":
      return choice["type"]
    default:
      return undefined
  }
}

const effortOf = (thinking: JsonObject) => {
  if (thinking["type"] === "adaptive") return "medium"
  if (thinking["type"] !== "enabled") return undefined
  const budget = numberAt(thinking, "budget_tokens") ?? 4_096
  if (budget < 4_096) return "low"
  return budget < 16_384 ? "medium" : "high"
}

const chatMessages = (message: JsonObject): ReadonlyArray<JsonObject> => {
  const { role, content } = message
  if (typeof content === "string") return [{ role, content }]
  const blocks = recordsAt(message, "content")
  if (role === "assistant") return [assistantMessage(blocks)]
  const results = blocks.filter(({ type }) => type === "tool_result")
  const pictures = results.flatMap((result) => recordsAt(result, "content").filter(({ type }) => type === "image"))
  const parts = [...pictures, ...blocks.filter(({ type }) => type !== "tool_result")].flatMap(chatPart)
  return [...results.map(toolMessage), ...(parts.length === 0 ? [] : [{ role, content: onlyText(parts) ?? parts }])]
}

/** A single text is written as a string, for not every provider reads lists. */
const onlyText = (parts: ReadonlyArray<JsonObject>) =>
  parts.length === 1 && parts[0]?.["type"] === "text" ? parts[0]["text"] : undefined

const assistantMessage = (blocks: ReadonlyArray<JsonObject>): JsonObject => {
  const text = blocks.flatMap((block) => (block["type"] === "text" ? [textAt(block, "text") ?? ""] : [])).join("")
  const calls = blocks.filter(({ type }) => type === "tool_use")
  return present({
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    tool_calls: toolCallsOf(calls)
  })
}

const toolMessage = (result: JsonObject): JsonObject => {
  const { content } = result
  const text = typeof content === "string" ? content : systemText(content)
  const answer = result["is_error"] === true ? `Error: ${text}` : text
  return { role: "tool", tool_call_id: result["tool_use_id"], content: answer }
}

const chatPart = (block: JsonObject): ReadonlyArray<JsonObject> => {
  const source = recordAt(block, "source")
  const url =
    source["type"] === "base64"
      ? `data:${textAt(source, "media_type") ?? ""};base64,${textAt(source, "data") ?? ""}`
      : textAt(source, "url")
  switch (block["type"]) {
    case "text":
      return [{ type: "text", text: block["text"] }]
    case "image":
      return [{ type: "image_url", image_url: { url } }]
    case "document":
      return source["type"] === "text"
        ? [{ type: "text", text: textAt(source, "data") ?? "" }]
        : [{ type: "file", file: present({ file_data: url, filename: textAt(block, "title") ?? "document.pdf" }) }]
    default:
      return []
  }
}

/** Undefined when there are none, so that the key is left out. */
export const toolCallsOf = (blocks: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> | undefined =>
  blocks.length === 0
    ? undefined
    : blocks.map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input ?? {}) }
      }))
