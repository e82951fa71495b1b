/** A request in OpenAI's shape as one in Anthropic's: roles alternate, results of tools are the user's. Pure. */
import { Result } from "effect"
import {
  isRecord,
  type JsonObject,
  numberAt,
  present,
  recordAt,
  recordsAt,
  textAt,
  without,
  Untranslatable
} from "./json.ts"
import { systemText } from "./messages-to-chat.ts"
const budgets: Readonly<Record<string, number>> = { low: 1_024, medium: 4_096, high: 16_384, xhigh: 32_768 }
const thinkingBudgetMin = 1_024
// Mean nothing there, or are said otherwise.
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
  const said = messages.filter(({ role }) => role !== "system" && role !== "developer")
  const outputTokens = numberAt(request, "max_completion_tokens") ?? numberAt(request, "max_tokens")
  const tools = recordsAt(request, "tools")
  const { stop } = request
  const user = textAt(request, "user")
  return Result.succeed(
    present({
      ...without(request, ...ownWords),
      max_tokens: outputTokens,
      system: system.length === 0 ? undefined : system.map(({ content }) => systemText(content)).join("\n"),
      messages: joined(said.map(anthropicMessage)),
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
  const wanted = effort === undefined ? undefined : budgets[effort]
  if (wanted === undefined) return undefined
  // Thinking counts as output and must leave room for the answer.
  const budget = Math.min(wanted, outputTokens - 1)
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

/** What a model wrote as arguments may not be JSON; then it is kept as a text. */
export const argumentsOf = (input: unknown): unknown => {
  if (typeof input !== "string" || input.trim() === "") return {}
  const parsed = Result.getOrUndefined(Result.try(() => JSON.parse(input) as unknown))
  return isRecord(parsed) ? parsed : { arguments: input }
}

const blocksOf = (content: unknown): ReadonlyArray<JsonObject> => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter(isRecord).flatMap(blockOf) : []
}

const dataUrl = /^data:([a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,100});base64,/iu

/** Of what stands in the request itself: addresses have been followed before. */
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

/** Messages of one role that follow each other are one. */
const joined = (messages: ReadonlyArray<AnthropicMessage>): ReadonlyArray<AnthropicMessage> => {
  const turns: Array<AnthropicMessage> = []
  for (const message of messages) {
    const last = turns.at(-1)
    if (last?.role !== message.role) turns.push(message)
    else turns[turns.length - 1] = { role: last.role, content: [...last.content, ...message.content] }
  }
  return turns.filter(({ content }) => content.length > 0)
}
