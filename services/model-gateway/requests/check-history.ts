/** What is wrong with a conversation whoever answers it, before anybody pays for it. Pure. */
import { Result } from "effect"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import { type JsonObject, recordsAt, textAt } from "../translate/json.ts"

type Checked = Result.Result<void, GatewayFault>
const fine: Checked = Result.succeed(undefined)

const isSystem = ({ role }: JsonObject) => role === "system" || role === "developer"

const empty = (param: "messages" | "input" = "messages"): Checked => Result.fail(fault("EMPTY_CONVERSATION", { param }))

const toolFault = (param: string, message: string): Checked =>
  Result.fail(fault("TOOL_ID_FORMAT_ERROR", { param, message }))

/** In OpenAI's shape. */
export const checkChat = (request: JsonObject): Checked => {
  const messages = recordsAt(request, "messages")
  if (messages.every(isSystem)) return empty()
  const called = new Set<string>()
  for (const [at, message] of messages.entries()) {
    const reasoning = message["reasoning_content"] ?? null
    if (reasoning !== null && typeof reasoning !== "string") {
      const param = `messages[${at}].reasoning_content`
      return Result.fail(fault("REASONING_FORMAT_ERROR", { param, message: `${param} must be a text` }))
    }
    for (const [nth, call] of recordsAt(message, "tool_calls").entries()) {
      const id = textAt(call, "id")
      const param = `messages[${at}].tool_calls[${nth}].id`
      if (id === undefined || id === "") return toolFault(param, `${param} must be a text`)
      called.add(id)
    }
    if (message["role"] !== "tool") continue
    const id = textAt(message, "tool_call_id")
    const param = `messages[${at}].tool_call_id`
    if (id === undefined || id === "") return toolFault(param, `${param} must be a text`)
    if (!called.has(id)) return toolFault(param, `${param} belongs to no tool call before it`)
  }
  return fine
}

/** In Anthropic's shape. */
export const checkMessages = (request: JsonObject): Checked => {
  const messages = recordsAt(request, "messages")
  if (messages.every(isSystem)) return empty()
  const called = new Set<string>()
  for (const [at, message] of messages.entries()) {
    for (const [nth, block] of recordsAt(message, "content").entries()) {
      const path = `messages[${at}].content[${nth}]`
      const isThought = block["type"] === "thinking"
      if (isThought && (typeof block["thinking"] !== "string" || typeof block["signature"] !== "string")) {
        const told = `${path} must have its thinking and its signature`
        return Result.fail(fault("REASONING_FORMAT_ERROR", { param: path, message: told }))
      }
      if (block["type"] === "tool_use") {
        const id = textAt(block, "id")
        if (id === undefined || id === "") return toolFault(`${path}.id`, `${path}.id must be a text`)
        called.add(id)
      }
      if (block["type"] !== "tool_result") continue
      const id = textAt(block, "tool_use_id")
      if (id === undefined || !called.has(id)) {
        return toolFault(`${path}.tool_use_id`, `${path}.tool_use_id belongs to no tool use before it`)
      }
    }
  }
  return fine
}

/** In the shape of responses. */
export const checkResponses = (request: JsonObject): Checked => {
  const items = recordsAt(request, "input")
  const isText = typeof request["input"] === "string" && request["input"] !== ""
  // Instructions are the system's; what a model thought asks nothing.
  const saysNothing = (item: JsonObject) => {
    const type = item["type"] ?? "message"
    return type === "reasoning" || (type === "message" && isSystem(item))
  }
  if (!isText && items.every(saysNothing)) return empty("input")
  const called = new Set<string>()
  for (const [at, item] of items.entries()) {
    const id = textAt(item, "call_id")
    const param = `input[${at}].call_id`
    if (item["type"] !== "function_call" && item["type"] !== "function_call_output") continue
    if (id === undefined || id === "") return toolFault(param, `${param} must be a text`)
    if (item["type"] === "function_call") called.add(id)
    else if (!called.has(id)) return toolFault(param, `${param} belongs to no call before it`)
  }
  return fine
}
