/** Answers as Anthropic's messages: a complete one, or events. The parts follow one another. */
import { unsealed } from "../translate/sealed-thought.ts"
import { inputOf } from "../translate/tool-input.ts"
import type { JsonObject } from "../translate/json.ts"
import type { AnswerEvent, AnswerFrame, EndReason, OpenedPart } from "./AnswerEvents.ts"
import { emptyAnswer, gather, type GatheredAnswer, type GatheredPart } from "./GatheredAnswer.ts"
import { asAnthropicUsage, noUsage } from "../translate/usage.ts"

const reasons: Readonly<Record<EndReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  calls: "tool_use",
  filtered: "refusal",
  paused: "pause_turn"
}

export const messageOf = (answer: GatheredAnswer, frame: AnswerFrame): JsonObject => ({
  ...headOf(answer, frame),
  content: answer.parts.map(blockOf),
  stop_reason: reasonOf(answer),
  usage: usageOf(answer, frame)
})

const headOf = ({ id }: GatheredAnswer, { model, nowSeconds }: AnswerFrame) => ({
  id: id?.startsWith("msg_") === true ? id : `msg_${id ?? nowSeconds}`,
  type: "message",
  role: "assistant",
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null
})

const usageOf = ({ usage }: GatheredAnswer, { inputTokens }: AnswerFrame) =>
  asAnthropicUsage(usage ?? { ...noUsage, inputTokens })

/** OpenAI's models end a refusal like any other text. */
const reasonOf = ({ reason, parts }: GatheredAnswer) =>
  reason === "stop" && parts.some(({ opened }) => opened._tag === "Refusal") ? "refusal" : reasons[reason]

const blockOf = ({ opened, text, signature }: GatheredPart): JsonObject => {
  switch (opened._tag) {
    case "Text":
    case "Refusal":
      return { type: "text", text }
    case "Reasoning":
      return { type: "thinking", thinking: text, signature: signature ?? unsealed }
    case "Encrypted":
      return { type: "redacted_thinking", data: opened.data }
    case "ToolCall":
      return { type: "tool_use", id: opened.id, name: opened.name, input: inputOf(text) }
  }
}

const emptyPart = (opened: OpenedPart): GatheredPart => ({ opened, text: "", signature: undefined, isCut: false })

const deltaOf = (tag: OpenedPart["_tag"] | undefined, text: string): JsonObject => {
  if (tag === "Reasoning") return { type: "thinking_delta", thinking: text }
  return tag === "ToolCall" ? { type: "input_json_delta", partial_json: text } : { type: "text_delta", text }
}

export const messagesRenderer = (frame: AnswerFrame): ((event: AnswerEvent) => ReadonlyArray<JsonObject>) => {
  const answer = emptyAnswer()
  const delta = (index: number, made: JsonObject) => ({ type: "content_block_delta", index, delta: made })
  return (event) => {
    gather(answer, event)
    switch (event._tag) {
      case "Begun":
        return [{ type: "message_start", message: { ...headOf(answer, frame), usage: usageOf(answer, frame) } }]
      case "Opened": {
        const block = blockOf(emptyPart(event.part))
        const content_block = event.part._tag === "Reasoning" ? { ...block, signature: "" } : block
        return [{ type: "content_block_start", index: event.index, content_block }]
      }
      case "Added":
        return [delta(event.index, deltaOf(answer.byIndex.get(event.index)?.opened._tag, event.text))]
      case "Sealed":
        return [delta(event.index, { type: "signature_delta", signature: event.signature })]
      case "Closed": {
        const part = answer.byIndex.get(event.index)
        const isUnsealed = part?.opened._tag === "Reasoning" && part.signature === undefined
        const seal = isUnsealed ? [delta(event.index, { type: "signature_delta", signature: unsealed })] : []
        return [...seal, { type: "content_block_stop", index: event.index }]
      }
      case "Ended": {
        const reason = { stop_reason: reasonOf(answer), stop_sequence: null }
        return [{ type: "message_delta", delta: reason, usage: usageOf(answer, frame) }, { type: "message_stop" }]
      }
      default:
        return []
    }
  }
}
