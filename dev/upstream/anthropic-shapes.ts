/** Answers in Anthropic's wire format: a message, its events, a refusal. Pure. */
import type { AnswerPlan } from "./answer-plan.ts"
import type { Failure } from "./failures.ts"

const reasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal"
}

const reasonOf = (plan: AnswerPlan) => reasons[plan.reason] ?? plan.reason

const blocksOf = ({ thought, pieces, tool }: AnswerPlan) => [
  ...(thought === "" ? [] : [{ type: "thinking", thinking: thought, signature: "c2lnbmVk" }]),
  ...(tool === undefined
    ? [{ type: "text", text: pieces.join("") }]
    : [{ type: "tool_use", id: `toolu_${tool.id}`, name: tool.name, input: JSON.parse(tool.input) as unknown }])
]

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

const block = (index: number, empty: unknown, deltas: ReadonlyArray<unknown>): ReadonlyArray<Event> => [
  { type: "content_block_start", index, content_block: empty },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index }
]

export const messageEvents = (plan: AnswerPlan): ReadonlyArray<Event> => {
  const { thought, pieces, tool } = plan
  const thinking = block(0, { type: "thinking", thinking: "", signature: "" }, [
    { type: "thinking_delta", thinking: thought },
    { type: "signature_delta", signature: "c2lnbmVk" }
  ])
  const at = thought === "" ? 0 : 1
  const said =
    tool === undefined
      ? block(
          at,
          { type: "text", text: "" },
          pieces.map((text) => ({ type: "text_delta", text }))
        )
      : block(at, { type: "tool_use", id: `toolu_${tool.id}`, name: tool.name, input: {} }, [
          { type: "input_json_delta", partial_json: tool.input.slice(0, 4) },
          { type: "input_json_delta", partial_json: tool.input.slice(4) }
        ])
  return [
    { type: "message_start", message: messageOf(plan, [], 1) },
    { type: "ping" },
    ...(thought === "" ? [] : thinking),
    ...said,
    {
      type: "message_delta",
      delta: { stop_reason: reasonOf(plan), stop_sequence: null },
      usage: { output_tokens: plan.outputTokens }
    },
    { type: "message_stop" }
  ]
}

export const anthropicError = ({ message, anthropicMessage, anthropicType }: Failure) => ({
  type: "error",
  error: { type: anthropicType, message: anthropicMessage ?? message },
  request_id: "req_demo"
})
