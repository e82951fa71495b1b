/** The content of an answer, before it is put in a vendor's shape. Pure. */
import { type Asked, type DeclaredTool, wordsOf } from "./conversation.ts"
import { jsonOf } from "./json.ts"
import { minimalValue } from "./minimal-value.ts"
import type { Deltas, Order } from "./orders.ts"

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: string
  /** Of OpenAI's shape, and its input any text. */
  readonly isCustom?: true
}

export interface AnswerPlan {
  readonly id: string
  readonly model: string
  readonly thought: string
  /** Anthropic's `redacted_thinking`. */
  readonly hidesThought: boolean
  readonly pieces: ReadonlyArray<string>
  readonly tools: ReadonlyArray<ToolUse>
  /** How a stream of OpenAI's shape gives the arguments of several calls. */
  readonly deltas: Deltas
  /** OpenAI's word for why it ended. */
  readonly reason: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly showsUsage: boolean
}

const created = 1_750_000_000

export const createdSeconds = created

const usualThought = "the words come back"

export const planOf = (asked: Asked, order: Order, nth: number, thinks = false): AnswerPlan => {
  const all = piecesOf(asked, order)
  const tools = callsOf(asked, order).map((call, index) => ({
    id: index === 0 ? `call_${nth}` : `call_${nth}_${index}`,
    ...call
  }))
  const most = order._tag === "Words" && order.isEndless === true ? all.length : asked.outputTokensMax
  const isCut = all.length > most
  const pieces = tools.length === 0 ? all.slice(0, most) : []
  const natural = tools.length === 0 ? (isCut ? "length" : "stop") : "tool_calls"
  return {
    id: String(nth),
    model: asked.model,
    thought: order._tag === "Think" || thinks ? usualThought : "",
    hidesThought: order._tag === "Think" && order.isHidden,
    pieces,
    tools,
    deltas: order._tag === "Calls" ? order.deltas : "in turn",
    reason: order._tag === "Finish" ? order.reason : natural,
    inputTokens: asked.inputTokens,
    outputTokens: pieces.length + tools.length,
    showsUsage: order._tag !== "NoUsage"
  }
}

type Call = Omit<ToolUse, "id">

const piecesOf = (asked: Asked, order: Order): ReadonlyArray<string> => {
  if (order._tag === "Words") {
    return Array.from({ length: order.count }, (_, at) => `${at === 0 ? "" : " "}word${at}`)
  }
  // Nobody may send an empty answer back.
  const text = asked.results.length === 0 ? asked.message : asked.results.join("\n") || "[nothing]"
  switch (asked.form._tag) {
    case "Text":
      return wordsOf(text)
    case "Json":
      return cut(JSON.stringify({ text }))
    case "Schema":
      return cut(JSON.stringify(minimalValue(asked.form.schema)))
  }
}

/** In pieces of at most eight characters. */
const cut = (text: string): ReadonlyArray<string> => text.match(/.{1,8}/gsu) ?? []

const callsOf = (asked: Asked, order: Order): ReadonlyArray<Call> => {
  const { choice } = asked
  if (choice._tag === "None") return []
  const ordered = orderedCalls(asked, order)
  if (choice._tag === "Forced") {
    const isMet = choice.isAny ? ordered.length > 0 : ordered.some(({ name }) => name === choice.tool.name)
    if (!isMet) return [callOf(choice.tool)]
  }
  return asked.isParallel ? ordered : ordered.slice(0, 1)
}

/** Without a text, with the least that its schema allows. */
const callOf = ({ name, schema, isCustom }: DeclaredTool, text = ""): Call => {
  if (isCustom) return { name, input: text, isCustom }
  return { name, input: JSON.stringify(text === "" ? minimalValue(schema) : objectOf(text)) }
}

const objectOf = (text: string) => {
  try {
    return jsonOf(JSON.parse(text))
  } catch {
    return {}
  }
}

const undeclared: Call = { name: "look_up", input: '{"word":"starling"}' }

/** Calls are made once, or a model that is asked again with their results would call for ever. */
const orderedCalls = ({ tools, rounds }: Asked, order: Order): ReadonlyArray<Call> => {
  if (order._tag === "Use") {
    // Who asks for a summary gives the order along, and no tools.
    if (tools.length === 0) return []
    return (order.steps[rounds] ?? []).map(({ name, text }) =>
      callOf(tools.find((tool) => tool.name === name) ?? { name, schema: { type: "object" }, isCustom: false }, text)
    )
  }
  if (rounds > 0) return []
  if (order._tag === "Tool") return [{ name: order.name, input: order.input }]
  if (order._tag !== "Calls") return []
  const all = tools.length === 0 ? [undeclared] : tools.map((tool) => callOf(tool))
  return Array.from({ length: order.count }, (_, index) => all[index % all.length] ?? undeclared)
}
