/** Whole answers from one vendor's shape to the other's. Pure. */
import { argumentsOf, toolCallsOf } from "./anthropic-requests.ts"
import { type JsonObject, present, recordAt, recordsAt, textAt } from "./json.ts"
import {
  anthropicReason,
  anthropicUsage,
  asAnthropicUsage,
  asOpenAiUsage,
  openAiReason,
  openAiUsage
} from "./stop-reasons.ts"

/** `model`: the caller's name for it. */
export const messageToChat = (message: JsonObject, model: string, createdSeconds: number): JsonObject => {
  const blocks = recordsAt(message, "content")
  const text = blocks.flatMap((block) => (block["type"] === "text" ? [textAt(block, "text") ?? ""] : [])).join("")
  const thinking = blocks
    .flatMap((block) => (block["type"] === "thinking" ? [textAt(block, "thinking") ?? ""] : []))
    .join("")
  const calls = blocks.filter(({ type }) => type === "tool_use")
  return {
    id: message["id"],
    object: "chat.completion",
    created: createdSeconds,
    model,
    choices: [
      {
        index: 0,
        message: present({
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          refusal: null,
          reasoning_content: thinking === "" ? undefined : thinking,
          tool_calls: toolCallsOf(calls)
        }),
        logprobs: null,
        finish_reason: openAiReason(textAt(message, "stop_reason"))
      }
    ],
    usage: asOpenAiUsage(anthropicUsage(recordAt(message, "usage")))
  }
}

export const firstChoice = (answer: JsonObject) => recordsAt(answer, "choices")[0] ?? {}

export const reasoningOf = (message: JsonObject): string =>
  textAt(message, "reasoning_content") ?? textAt(message, "reasoning") ?? ""

export const textOf = (message: JsonObject): string => {
  const { content } = message
  if (typeof content === "string") return content
  return recordsAt(message, "content")
    .map((part) => textAt(part, "text") ?? "")
    .join("")
}

export const chatToMessage = (answer: JsonObject, model: string): JsonObject => {
  const choice = firstChoice(answer)
  const message = recordAt(choice, "message")
  const text = textOf(message)
  const thinking = reasoningOf(message)
  const calls = recordsAt(message, "tool_calls").map((call) => {
    const { name, arguments: input } = recordAt(call, "function")
    return { type: "tool_use", id: call["id"], name, input: argumentsOf(input) }
  })
  return {
    id: messageId(textAt(answer, "id")),
    type: "message",
    role: "assistant",
    model,
    content: [
      ...(thinking === "" ? [] : [{ type: "thinking", thinking, signature: "" }]),
      ...(text === "" && calls.length > 0 ? [] : [{ type: "text", text }]),
      ...calls
    ],
    stop_reason: anthropicReason(textAt(choice, "finish_reason")),
    stop_sequence: null,
    usage: asAnthropicUsage(openAiUsage(recordAt(answer, "usage")))
  }
}

export const messageId = (id: string | undefined): string => (id?.startsWith("msg_") === true ? id : `msg_${id ?? "0"}`)
