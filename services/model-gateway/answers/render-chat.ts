/** Answers as OpenAI's chat completions: a complete one, or chunks. Pure but for its place in the stream. */
import type { JsonObject } from "../translate/json.ts"
import { present } from "../translate/json.ts"
import type { AnswerEvent, AnswerFrame, EndReason } from "./AnswerEvents.ts"
import { emptyAnswer, gather, type GatheredAnswer, type GatheredPart, textOf } from "./GatheredAnswer.ts"
import { asOpenAiUsage } from "../translate/usage.ts"

const reasons: Readonly<Record<EndReason, string>> = {
  stop: "stop",
  length: "length",
  calls: "tool_calls",
  filtered: "content_filter",
  paused: "stop"
}

export const completionOf = (answer: GatheredAnswer, frame: AnswerFrame): JsonObject => {
  const { parts, usage, reason } = answer
  const [text, thought, refusal] = [textOf(answer, "Text"), textOf(answer, "Reasoning"), textOf(answer, "Refusal")]
  const calls = parts.flatMap(callOf)
  const details = parts.flatMap(detailOf).map((detail, index) => ({ ...detail, index }))
  return present({
    id: idOf(answer, frame),
    object: "chat.completion",
    created: frame.nowSeconds,
    model: frame.model,
    choices: [
      {
        index: 0,
        message: present({
          role: "assistant",
          content: text === "" && (calls.length > 0 || refusal !== "") ? null : text,
          refusal: refusal === "" ? null : refusal,
          reasoning_content: thought === "" ? undefined : thought,
          reasoning_details: details.length === 0 ? undefined : details,
          tool_calls: calls.length === 0 ? undefined : calls
        }),
        logprobs: null,
        finish_reason: reasons[reason]
      }
    ],
    usage: usage === undefined ? undefined : asOpenAiUsage(usage)
  })
}

const idOf = ({ id }: GatheredAnswer, { nowSeconds }: AnswerFrame) => id ?? `chatcmpl-${nowSeconds}`

const callOf = ({ opened, text }: GatheredPart): ReadonlyArray<JsonObject> => {
  if (opened._tag !== "ToolCall") return []
  return [{ id: opened.id, type: "function", function: { name: opened.name, arguments: text } }]
}

/** What a caller sends back, so that the provider recognizes its thought: the form that OpenRouter made common. */
const detailOf = ({ opened, text, signature }: GatheredPart): ReadonlyArray<JsonObject> => {
  const format = "anthropic-claude-v1"
  if (opened._tag === "Encrypted") return [{ type: "reasoning.encrypted", data: opened.data, format }]
  if (opened._tag !== "Reasoning" || signature === undefined) return []
  return [{ type: "reasoning.text", text, signature, format }]
}

export const chatRenderer = (frame: AnswerFrame): ((event: AnswerEvent) => ReadonlyArray<JsonObject>) => {
  const answer = emptyAnswer()
  const calls = new Map<number, number>()
  let details = 0

  const head = () => ({
    id: idOf(answer, frame),
    object: "chat.completion.chunk",
    created: frame.nowSeconds,
    model: frame.model
  })
  const chunk = (delta: JsonObject, reason: string | null = null): JsonObject => ({
    ...head(),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }]
  })
  const added = (index: number, text: string): JsonObject => {
    switch (answer.byIndex.get(index)?.opened._tag) {
      case "ToolCall":
        return chunk({ tool_calls: [{ index: calls.get(index), function: { arguments: text } }] })
      case "Reasoning":
        return chunk({ reasoning_content: text })
      case "Refusal":
        return chunk({ refusal: text })
      default:
        return chunk({ content: text })
    }
  }
  return (event) => {
    gather(answer, event)
    switch (event._tag) {
      case "Begun":
        return [chunk({ role: "assistant", content: "" })]
      case "Opened": {
        if (event.part._tag !== "ToolCall") return []
        calls.set(event.index, calls.size)
        const { id, name } = event.part
        const call = { index: calls.get(event.index), id, type: "function", function: { name, arguments: "" } }
        return [chunk({ tool_calls: [call] })]
      }
      case "Added":
        return [added(event.index, event.text)]
      // Complete, because clients keep the last one that they received.
      case "Closed": {
        const part = answer.byIndex.get(event.index)
        const made = part === undefined ? [] : detailOf(part)
        return made.map((detail) => chunk({ reasoning_details: [{ ...detail, index: details++ }] }))
      }
      case "Ended": {
        const usage = answer.usage === undefined ? undefined : asOpenAiUsage(answer.usage)
        const last = frame.includesUsage && usage !== undefined ? [{ ...head(), choices: [], usage }] : []
        return [chunk({}, reasons[event.reason]), ...last]
      }
      default:
        return []
    }
  }
}
