/** The tokens of an answer in each vendor's terms. Pure. */
import { type JsonObject, numberAt, recordAt } from "./json.ts"

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

/** Anthropic counts cached tokens separately from the input. */
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
  input_tokens: Math.max(0, inputTokens - cachedTokens),
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
