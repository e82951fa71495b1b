/** Answers in Anthropic's wire format: a message, its events, a refusal. Pure. */
import type { AnswerPlan } from "./answer-plan.ts"
import type { Failure } from "./failures.ts"
import { redactedOf, signatureOf } from "./strict/signatures.ts"

const reasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal"
}

const reasonOf = (plan: AnswerPlan) => reasons[plan.reason] ?? plan.reason

/** Signed, so that it can be told whether a thought comes back whole. */
const thoughtOf = ({ thought, hidesThought }: AnswerPlan) => {
  if (thought === "") return undefined
  if (hidesThought) return { type: "redacted_thinking" as const, data: redactedOf(thought) }
  return { type: "thinking" as const, thinking: thought, signature: signatureOf(thought) }
}

const blocksOf = (plan: AnswerPlan) => {
  const thought = thoughtOf(plan)
  return [
    ...(thought === undefined ? [] : [thought]),
    ...(plan.tools.length === 0 ? [{ type: "text", text: plan.pieces.join("") }] : []),
    ...plan.tools.map(({ id, name, input }) => ({
      type: "tool_use",
      id: `toolu_${id}`,
      name,
      input: JSON.parse(input) as unknown
    }))
  ]
}

const messageOf = (plan: AnswerPlan, content: ReadonlyArray<unknown>, outputTokens: number) => ({
  id: `msg_${plan.id}`,
  type: "message",
  role: "assistant",
  model: plan.model,
  content,
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: { input_tokens: plan.inputTokens, output_tokens: outputTokens }
})

export const messageAnswer = (plan: AnswerPlan) => ({
  ...messageOf(plan, blocksOf(plan), plan.outputTokens),
  stop_reason: reasonOf(plan)
})

type Event = { readonly type: string } & Readonly<Record<string, unknown>>

interface Block {
  readonly empty: unknown
  readonly deltas: ReadonlyArray<unknown>
}

const block = ({ empty, deltas }: Block, index: number): ReadonlyArray<Event> => [
  { type: "content_block_start", index, content_block: empty },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index }
]

const thoughtBlock = (plan: AnswerPlan): ReadonlyArray<Block> => {
  const thought = thoughtOf(plan)
  if (thought === undefined) return []
  if (thought.type === "redacted_thinking") return [{ empty: thought, deltas: [] }]
  return [
    {
      empty: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        { type: "thinking_delta", thinking: thought.thinking },
        { type: "signature_delta", signature: thought.signature }
      ]
    }
  ]
}

const saidBlocks = ({ pieces, tools }: AnswerPlan): ReadonlyArray<Block> => {
  if (tools.length === 0) {
    return [{ empty: { type: "text", text: "" }, deltas: pieces.map((text) => ({ type: "text_delta", text })) }]
  }
  return tools.map(({ id, name, input }) => ({
    empty: { type: "tool_use", id: `toolu_${id}`, name, input: {} },
    deltas: [
      { type: "input_json_delta", partial_json: input.slice(0, 4) },
      { type: "input_json_delta", partial_json: input.slice(4) }
    ]
  }))
}

export const messageEvents = (plan: AnswerPlan): ReadonlyArray<Event> => [
  { type: "message_start", message: messageOf(plan, [], 1) },
  { type: "ping" },
  ...[...thoughtBlock(plan), ...saidBlocks(plan)].flatMap(block),
  {
    type: "message_delta",
    delta: { stop_reason: reasonOf(plan), stop_sequence: null },
    usage: { output_tokens: plan.outputTokens }
  },
  { type: "message_stop" }
]

export const anthropicError = ({ message, anthropicMessage, anthropicType }: Failure) => ({
  type: "error",
  error: { type: anthropicType, message: anthropicMessage ?? message },
  request_id: "req_demo"
})
