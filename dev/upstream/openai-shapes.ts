/** Answers in OpenAI's wire format: whole, in chunks, refused; models and images. Pure. */
import { createHash } from "node:crypto"
import type { AnswerPlan, ToolUse } from "./answer-plan.ts"
import { createdSeconds } from "./answer-plan.ts"
import { wordsOf } from "./conversation.ts"
import type { Failure } from "./failures.ts"

const usageOf = ({ inputTokens, outputTokens, thought }: AnswerPlan) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: thought === "" ? 0 : thought.split(" ").length }
})

const calledWith = ({ name, isCustom }: ToolUse, input: string) =>
  isCustom === true ? { custom: { name, input } } : { function: { name, arguments: input } }

const kindOf = ({ isCustom }: ToolUse) => (isCustom === true ? "custom" : "function")

const toolCalls = ({ tools }: AnswerPlan) =>
  tools.map((tool) => ({ id: tool.id, type: kindOf(tool), ...calledWith(tool, tool.input) }))

export const chatAnswer = (plan: AnswerPlan) => {
  const calls = toolCalls(plan)
  return {
    id: `chatcmpl-${plan.id}`,
    object: "chat.completion",
    created: createdSeconds,
    model: plan.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: calls.length === 0 ? plan.pieces.join("") : null,
          refusal: null,
          ...(plan.thought === "" || plan.hidesThought ? {} : { reasoning_content: plan.thought }),
          ...(calls.length === 0 ? {} : { tool_calls: calls })
        },
        logprobs: null,
        finish_reason: plan.reason
      }
    ],
    ...(plan.showsUsage ? { usage: usageOf(plan) } : {}),
    system_fingerprint: "fp_demo"
  }
}

export const chatChunks = (plan: AnswerPlan, includesUsage: boolean): ReadonlyArray<unknown> => {
  const head = {
    id: `chatcmpl-${plan.id}`,
    object: "chat.completion.chunk",
    created: createdSeconds,
    model: plan.model
  }
  const chunk = (delta: unknown, reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    ...(includesUsage ? { usage: null } : {})
  })
  return [
    chunk({ role: "assistant", content: "" }),
    ...(plan.thought === "" || plan.hidesThought ? [] : [chunk({ reasoning_content: plan.thought })]),
    ...plan.pieces.map((content) => chunk({ content })),
    ...callDeltas(plan).map((call) => chunk({ tool_calls: [call] })),
    chunk({}, plan.reason),
    ...(includesUsage && plan.showsUsage ? [{ ...head, choices: [], usage: usageOf(plan) }] : [])
  ]
}

/** Each call begins with its id and name; the arguments come in two deltas. */
const callDeltas = (plan: AnswerPlan): ReadonlyArray<unknown> => {
  const calls = plan.tools.map((tool, index) => {
    const place = plan.deltas === "unindexed" ? {} : { index }
    const part = (text: string) => ({
      ...place,
      ...(tool.isCustom === true ? { custom: { input: text } } : { function: { arguments: text } })
    })
    return {
      start: { ...place, id: tool.id, type: kindOf(tool), ...calledWith(tool, "") },
      first: part(tool.input.slice(0, 4)),
      rest: part(tool.input.slice(4))
    }
  })
  if (plan.deltas !== "interleaved") return calls.flatMap(({ start, first, rest }) => [start, first, rest])
  return [...calls.map(({ start }) => start), ...calls.map(({ first }) => first), ...calls.map(({ rest }) => rest)]
}

export const openAiError = ({ message, type, param, code }: Failure) => ({ error: { message, type, param, code } })

export const modelList = (ids: ReadonlyArray<string>) => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model", created: createdSeconds, owned_by: "demo" }))
})

/** One grey pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

export const imagesAnswer = (prompt: string, count: number) => ({
  created: createdSeconds,
  data: Array.from({ length: count }, () => ({ b64_json: pixel, revised_prompt: prompt }))
})

export interface EmbeddingsAsked {
  readonly model?: string
  readonly input: string | ReadonlyArray<string | number | ReadonlyArray<number>>
  readonly encoding_format?: "float" | "base64"
  readonly dimensions?: number
}

/** A vector of length 1 for each input; equal inputs have equal ones. */
export const embeddingsAnswer = (
  { model, input }: EmbeddingsAsked,
  { isBase64, dimensions }: { readonly isBase64: boolean; readonly dimensions: number }
) => {
  const inputs = typeof input === "string" || typeof input[0] === "number" ? [input] : input
  const tokens = inputs.reduce<number>(
    (sum, each) => sum + (typeof each === "string" ? wordsOf(each) : [each].flat()).length,
    0
  )
  const data = inputs.map((each, index) => {
    const floats = unitVector(JSON.stringify(each), dimensions)
    const embedding = isBase64 ? Buffer.from(floats.buffer).toString("base64") : [...floats]
    return { object: "embedding", index, embedding }
  })
  return { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

const unitVector = (text: string, dimensions: number) => {
  const numbers = Array.from({ length: dimensions }, (_, at) => {
    const digest = createHash("sha256").update(`${at} ${text}`).digest()
    return digest.readInt32LE(0) / 2 ** 31
  })
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => number / length)
}
