/** A request in the dialect of OpenAI's chat, as a conversation. Pure. */
import { isRecord, type JsonObject, numberAt, recordAt, recordsAt, textAt } from "../translate/json.ts"
import type { Conversation, Part, ThinkingWish, Turn } from "./Conversation.ts"
import type { FileFinder } from "./files.ts"
import { chatThoughts, partsOf } from "./read-parts.ts"
import { chatTools, openAiChoice, openAiOutput } from "./read-tools.ts"
import { besides, stopsOf } from "./request-keys.ts"
import { words } from "../translate/provider-keys.ts"

const readKeys = [
  ...words("model messages stream stream_options tools tool_choice functions function_call"),
  ...words("parallel_tool_calls response_format reasoning_effort temperature top_p top_k stop user n")
]

export const readChat = (request: JsonObject, files: FileFinder): Conversation => {
  const choice = request["tool_choice"] ?? functionChoice(request["function_call"])
  return {
    dialect: "chat",
    turns: recordsAt(request, "messages").map(turnReader(files)),
    ...openAiChoice(choice, chatTools(request)),
    isSerial: request["parallel_tool_calls"] === false,
    output: openAiOutput(recordAt(request, "response_format")),
    thinking: effortWish(textAt(request, "reasoning_effort")),
    temperature: numberAt(request, "temperature"),
    topP: numberAt(request, "top_p"),
    topK: numberAt(request, "top_k"),
    stop: stopsOf(request["stop"]),
    user: textAt(request, "user"),
    isStreamed: request["stream"] === true,
    ...(numberAt(request, "max_completion_tokens") === undefined ? {} : { limitKey: "max_completion_tokens" as const }),
    answers: numberAt(request, "n") ?? 1,
    others: besides(request, readKeys)
  }
}

export const effortWish = (effort: string | undefined): ThinkingWish | undefined => {
  if (effort === undefined || effort === "") return undefined
  return effort === "none" ? { _tag: "Off" } : { _tag: "Effort", effort }
}

const functionChoice = (choice: unknown) => (isRecord(choice) ? { type: "function", function: choice } : choice)

const roles: Readonly<Record<string, Turn["role"]>> = { system: "system", developer: "system", assistant: "assistant" }

/** Functions of chat's first version have no ids: a result belongs to the last call. */
const turnReader = (files: FileFinder) => {
  let calls = 0
  return (message: JsonObject, at: number): Turn => {
    const path = `messages[${at}]`
    const { role, content } = message
    const name = textAt(message, "name")
    if (role === "tool" || role === "function") {
      const id = role === "tool" ? (textAt(message, "tool_call_id") ?? "") : `call_${calls}`
      const parts = partsOf(content, `${path}.content`, files)
      return { role: "user", parts: [{ _tag: "ToolResult", id, parts, isError: false }] }
    }
    const spoken = partsOf(content, `${path}.content`, files)
    if (role !== "assistant") {
      return { role: roles[String(role)] ?? "user", parts: spoken, ...(name === undefined ? {} : { name }) }
    }
    const refused = textAt(message, "refusal") ?? ""
    const legacy = recordAt(message, "function_call")
    const isLegacy = Object.keys(legacy).length > 0
    if (isLegacy) calls += 1
    const parts: ReadonlyArray<Part> = [
      ...chatThoughts(message),
      ...spoken,
      ...partsOf(message["images"], `${path}.images`, files),
      ...(refused === "" ? [] : [{ _tag: "Refusal" as const, text: refused }]),
      ...recordsAt(message, "tool_calls").map(toolCall),
      ...(isLegacy ? [toolCall({ id: `call_${calls}`, function: legacy })] : [])
    ]
    return { role: "assistant", parts, ...(name === undefined ? {} : { name }) }
  }
}

const toolCall = (call: JsonObject): Part => {
  const isCustom = call["type"] === "custom"
  const declared = recordAt(call, isCustom ? "custom" : "function")
  const input = textAt(declared, isCustom ? "input" : "arguments") ?? ""
  return {
    _tag: "ToolCall",
    id: textAt(call, "id") ?? "",
    tool: { name: textAt(declared, "name") ?? "" },
    input: isCustom ? JSON.stringify({ input }) : input,
    ...(isCustom ? { isCustom } : {})
  }
}
