/**
 * Answers as OpenAI's responses: a complete one, or numbered events, of which the last contains the same response. The
 * parts follow one another.
 */
import type { JsonObject } from "../translate/json.ts"
import type { AnswerEvent, AnswerFrame, OpenedPart } from "./AnswerEvents.ts"
import { emptyAnswer, gather, type GatheredAnswer, type GatheredPart } from "./GatheredAnswer.ts"
import { contentPart, customInput, itemId, itemOf, summaryPart } from "./response-items.ts"
import { asResponsesUsage } from "../translate/usage.ts"

type Events = ReadonlyArray<JsonObject>

export const responseOf = (answer: GatheredAnswer, frame: AnswerFrame): JsonObject => {
  const { reason, usage, parts } = answer
  const cut = reason === "length" ? "max_output_tokens" : reason === "filtered" ? "content_filter" : undefined
  return {
    ...headOf(answer, frame),
    status: cut === undefined ? "completed" : "incomplete",
    incomplete_details: cut === undefined ? null : { reason: cut },
    output: parts.map((part, index) => itemOf(part, placeOf(answer, frame, index), frame.calls)),
    usage: usage === undefined ? null : asResponsesUsage(usage)
  }
}

const idOf = ({ id }: GatheredAnswer, { nowSeconds }: AnswerFrame) => id ?? String(nowSeconds)

const placeOf = (answer: GatheredAnswer, frame: AnswerFrame, index: number) => `${idOf(answer, frame)}_${index}`

const headOf = (answer: GatheredAnswer, frame: AnswerFrame): JsonObject => {
  const { request, model, nowSeconds } = frame
  return {
    id: `resp_${idOf(answer, frame)}`,
    object: "response",
    created_at: nowSeconds,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request["instructions"] ?? null,
    max_output_tokens: request["max_output_tokens"] ?? null,
    metadata: request["metadata"] ?? {},
    model,
    output: [],
    parallel_tool_calls: request["parallel_tool_calls"] ?? true,
    previous_response_id: null,
    reasoning: request["reasoning"] ?? { effort: null, summary: null },
    store: false,
    temperature: request["temperature"] ?? null,
    text: request["text"] ?? { format: { type: "text" } },
    tool_choice: request["tool_choice"] ?? "auto",
    tools: request["tools"] ?? [],
    top_p: request["top_p"] ?? null,
    truncation: "disabled",
    usage: null,
    user: request["user"] ?? null
  }
}

export const responsesRenderer = (frame: AnswerFrame): ((event: AnswerEvent) => Events) => {
  const answer = emptyAnswer()
  let sequence = 0
  const at = (index: number): Growing => {
    const place = placeOf(answer, frame, index)
    const part = answer.byIndex.get(index) ?? nothing
    return { part, index, place, item_id: itemId(part.opened, place, frame.calls), frame }
  }
  const eventsOf = (event: AnswerEvent): Events => {
    switch (event._tag) {
      case "Begun": {
        const response = headOf(answer, frame)
        return [
          { type: "response.created", response },
          { type: "response.in_progress", response }
        ]
      }
      case "Opened":
        return opened(at(event.index))
      case "Added":
        return added(at(event.index), event.text)
      case "Closed":
        return closed(at(event.index))
      case "Ended": {
        const response = responseOf(answer, frame)
        return [{ type: `response.${String(response["status"])}`, response }]
      }
      default:
        return []
    }
  }
  return (event) => {
    gather(answer, event)
    return eventsOf(event).map((made) => ({ ...made, sequence_number: sequence++ }))
  }
}

const nothing: GatheredPart = { opened: { _tag: "Text" }, text: "", signature: undefined, isCut: false }

interface Growing {
  readonly part: GatheredPart
  readonly index: number
  readonly place: string
  readonly item_id: string
  readonly frame: AnswerFrame
}

const formOf = ({ frame }: Growing, call: Extract<OpenedPart, { readonly _tag: "ToolCall" }>) => frame.calls(call.name)

const opened = ({ part, index, item_id, place, frame }: Growing): Events => {
  const item = itemOf(part, place, frame.calls, "in_progress")
  const added = { type: "response.output_item.added", output_index: index, item }
  const { _tag: tag } = part.opened
  if (tag !== "Text" && tag !== "Refusal") return [added]
  const content = { output_index: index, item_id, content_index: 0, part: contentPart(tag, "") }
  return [added, { type: "response.content_part.added", ...content }]
}

const added = (growing: Growing, delta: string): Events => {
  const { part, index, item_id } = growing
  const place = { output_index: index, item_id }
  switch (part.opened._tag) {
    case "Refusal":
      return [{ type: "response.refusal.delta", ...place, content_index: 0, delta }]
    case "Reasoning": {
      const event = { type: "response.reasoning_summary_text.delta", ...place, summary_index: 0, delta }
      // The first delta of its summary.
      if (part.text !== delta) return [event]
      const summary = { ...place, summary_index: 0, part: summaryPart("") }
      return [{ type: "response.reasoning_summary_part.added", ...summary }, event]
    }
    case "ToolCall":
      // Other forms are built from the complete arguments.
      return formOf(growing, part.opened)._tag === "Function"
        ? [{ type: "response.function_call_arguments.delta", ...place, delta }]
        : []
    default:
      return [{ type: "response.output_text.delta", ...place, content_index: 0, delta, logprobs: [] }]
  }
}

const closed = (growing: Growing): Events => {
  const { part, index, place, frame } = growing
  const item = itemOf(part, place, frame.calls)
  return [...contentDone(growing), { type: "response.output_item.done", output_index: index, item }]
}

const contentDone = (growing: Growing): Events => {
  const { part, index, item_id } = growing
  const { opened: open, text } = part
  const place = { output_index: index, item_id }
  switch (open._tag) {
    case "Text":
    case "Refusal": {
      const content = { ...place, content_index: 0 }
      const done =
        open._tag === "Text"
          ? { type: "response.output_text.done", ...content, text, logprobs: [] }
          : { type: "response.refusal.done", ...content, refusal: text }
      return [done, { type: "response.content_part.done", ...content, part: contentPart(open._tag, text) }]
    }
    case "Reasoning": {
      if (text === "") return []
      const summary = { ...place, summary_index: 0 }
      return [
        { type: "response.reasoning_summary_text.done", ...summary, text },
        { type: "response.reasoning_summary_part.done", ...summary, part: summaryPart(text) }
      ]
    }
    case "Encrypted":
      return []
    case "ToolCall":
      return callDone(growing, open.name, place)
  }
}

const callDone = ({ part, frame }: Growing, name: string, place: JsonObject): Events => {
  const form = frame.calls(name)
  switch (form._tag) {
    case "Function":
      return [{ type: "response.function_call_arguments.done", ...place, name: form.name, arguments: part.text }]
    case "Custom": {
      const input = customInput(part.text, form.key)
      return [
        { type: "response.custom_tool_call_input.delta", ...place, delta: input },
        { type: "response.custom_tool_call_input.done", ...place, input }
      ]
    }
    case "Client":
      return []
  }
}
