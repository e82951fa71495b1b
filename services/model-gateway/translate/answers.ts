/** Whole answers from one vendor's shape to the other's, with stop reasons and usage in the words of both. Pure. */
import { argumentsOf, toolCallsOf } from "./anthropic-requests.ts"
import { type JsonObject, numberAt, present, recordAt, recordsAt, textAt } from "./json.ts"

const toAnthropic: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal"
}

const toOpenAi: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter"
}

export const anthropicReason = (reason: string | undefined): string => toAnthropic[reason ?? "stop"] ?? "end_turn"
export const openAiReason = (reason: string | undefined): string => toOpenAi[reason ?? "end_turn"] ?? "stop"

/** Tokens of one answer. `inputTokens` includes the cached ones. */
export interface Usage {
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
}

export const noUsage: Usage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 }

export const openAiUsage = (usage: JsonObject): Usage => ({
  inputTokens: numberAt(usage, "prompt_tokens") ?? 0,
  cachedTokens: numberAt(recordAt(usage, "prompt_tokens_details"), "cached_tokens") ?? 0,
  outputTokens: numberAt(usage, "completion_tokens") ?? 0,
  reasoningTokens: numberAt(recordAt(usage, "completion_tokens_details"), "reasoning_tokens") ?? 0
})

/** Anthropic counts cached tokens apart from the input. */
export const anthropicUsage = (usage: JsonObject): Usage => {
  const read = numberAt(usage, "cache_read_input_tokens") ?? 0
  const created = numberAt(usage, "cache_creation_input_tokens") ?? 0
  return {
    inputTokens: (numberAt(usage, "input_tokens") ?? 0) + read + created,
    cachedTokens: read,
    outputTokens: numberAt(usage, "output_tokens") ?? 0,
    reasoningTokens: 0
  }
}

export const asOpenAiUsage = ({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens }
})

export const asAnthropicUsage = ({ inputTokens, cachedTokens, outputTokens }: Usage) => ({
  input_tokens: inputTokens - cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cachedTokens,
  output_tokens: outputTokens
})

export const asResponsesUsage = ({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens
})

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
