/** A request in the dialect of Anthropic's messages, as a conversation. Pure. */
import { isRecord, type JsonObject, numberAt, recordAt, recordsAt, textAt } from "../translate/json.ts"
import type { Conversation, OutputForm, ThinkingWish, Turn } from "./Conversation.ts"
import type { FileFinder } from "./files.ts"
import { partsOf } from "./read-parts.ts"
import { messagesChoice, messagesTools } from "./read-tools.ts"
import { besides, stopsOf } from "./request-keys.ts"
import { words } from "../translate/provider-keys.ts"

const readKeys = [
  ...words("model system messages stream tools tool_choice output_config output_format thinking"),
  ...words("temperature top_p top_k stop_sequences metadata n")
]

export const readMessages = (request: JsonObject, files: FileFinder): Conversation => {
  const choice = recordAt(request, "tool_choice")
  const system = partsOf(request["system"] ?? "", "system", files)
  return {
    dialect: "messages",
    turns: [
      ...(system.length === 0 ? [] : [{ role: "system" as const, parts: system }]),
      ...recordsAt(request, "messages").map((message, at): Turn => {
        const { role, content } = message
        const isKnown = role === "assistant" || role === "system"
        return { role: isKnown ? role : "user", parts: partsOf(content, `messages[${at}].content`, files) }
      })
    ],
    tools: messagesTools(request),
    choice: messagesChoice(choice),
    isSerial: choice["disable_parallel_tool_use"] === true,
    output: outputOf(request),
    thinking: thinkingOf(request),
    temperature: numberAt(request, "temperature"),
    topP: numberAt(request, "top_p"),
    topK: numberAt(request, "top_k"),
    stop: stopsOf(request["stop_sequences"]),
    user: textAt(recordAt(request, "metadata"), "user_id"),
    isStreamed: request["stream"] === true,
    answers: 1,
    others: besides(request, readKeys)
  }
}

const outputOf = (request: JsonObject): OutputForm | undefined => {
  const format = recordAt(request, "output_config")["format"] ?? request["output_format"]
  return isRecord(format) && format["type"] === "json_schema" ? { _tag: "Schema", schema: format["schema"] } : undefined
}

const thinkingOf = (request: JsonObject): ThinkingWish | undefined => {
  const effort = textAt(recordAt(request, "output_config"), "effort")
  const thinking = recordAt(request, "thinking")
  switch (thinking["type"]) {
    case "enabled":
      return { _tag: "Budget", tokens: numberAt(thinking, "budget_tokens") ?? 4_096, value: thinking }
    case "adaptive":
      return { _tag: "Adaptive", effort, value: thinking }
    case "disabled":
      return { _tag: "Off" }
    default:
      return effort === undefined ? undefined : { _tag: "Effort", effort }
  }
}
