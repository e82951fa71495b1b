/** A request in Anthropic's shape as one in OpenAI's. Results of tools become messages of their own. Pure. */
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
    "service_tier"
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

export const systemText = (system: unknown): string => {
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

/** One text is written as a text: not every provider reads lists. */
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
  const told = result["is_error"] === true ? `Error: ${text}` : text
  return { role: "tool", tool_call_id: result["tool_use_id"], content: told }
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

/** Undefined without any: the key is then left out. */
export const toolCallsOf = (blocks: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> | undefined =>
  blocks.length === 0
    ? undefined
    : blocks.map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input ?? {}) }
      }))
