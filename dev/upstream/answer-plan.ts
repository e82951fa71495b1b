/** The content of an answer, before it is put in a vendor's shape. Pure. */
import { type Asked, wordsOf } from "./conversation.ts"
import type { Order } from "./orders.ts"

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: string
}

export interface AnswerPlan {
  readonly id: string
  readonly model: string
  readonly thought: string
  readonly pieces: ReadonlyArray<string>
  readonly tool: ToolUse | undefined
  /** OpenAI's word for why it ended. */
  readonly reason: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly showsUsage: boolean
}

const created = 1_750_000_000

export const createdSeconds = created

export const planOf = (asked: Asked, order: Order, nth: number): AnswerPlan => {
  const all =
    order._tag === "Words"
      ? Array.from({ length: order.count }, (_, at) => `${at === 0 ? "" : " "}word${at}`)
      : wordsOf(asked.message)
  const tool = order._tag === "Tool" ? { id: `call_${nth}`, name: order.name, input: order.input } : undefined
  const most = order._tag === "Words" && order.isEndless === true ? all.length : asked.outputTokensMax
  const isCut = all.length > most
  const pieces = tool === undefined ? all.slice(0, most) : []
  const natural = tool === undefined ? (isCut ? "length" : "stop") : "tool_calls"
  return {
    id: String(nth),
    model: asked.model,
    thought: order._tag === "Think" ? order.text : "",
    pieces,
    tool,
    reason: order._tag === "Finish" ? order.reason : natural,
    inputTokens: asked.inputTokens,
    outputTokens: pieces.length + (tool === undefined ? 0 : 1),
    showsUsage: order._tag !== "NoUsage"
  }
}
