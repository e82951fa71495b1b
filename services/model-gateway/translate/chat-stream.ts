/**
 * A stream translated from one shape to another: what follows from each event, and from the end. A translator lives as
 * long as its stream. Pure but for its memory of the stream.
 */
import {
  anthropicReason,
  anthropicUsage,
  asAnthropicUsage,
  asOpenAiUsage,
  messageId,
  noUsage,
  openAiReason,
  openAiUsage,
  reasoningOf,
  type Usage
} from "./answers.ts"
import { isRecord, type JsonObject, present, recordAt, recordsAt, textAt, without } from "./json.ts"

export interface Translator {
  readonly push: (event: JsonObject) => ReadonlyArray<JsonObject>
  /** Called when the provider has sent all. */
  readonly end: () => ReadonlyArray<JsonObject>
}

export const chain = (first: Translator, second: Translator): Translator => ({
  push: (event) => first.push(event).flatMap(second.push),
  end: () => [...first.end().flatMap(second.push), ...second.end()]
})

// Fields that name the provider behind a router.
const routing = ["provider", "provider_name", "x_groq", "service_tier"]

/**
 * Chat's own chunks as a caller gets them: with the caller's name for the model, and with usage only on request. Pure.
 */
export const chatChunks = (model: string, includesUsage: boolean): Translator => ({
  push: (chunk) => {
    const isLast = recordsAt(chunk, "choices").length === 0 && isRecord(chunk["usage"])
    if (isLast && !includesUsage) return []
    const kept = includesUsage ? without(chunk, ...routing) : without(chunk, ...routing, "usage")
    return [{ ...kept, model }]
  },
  end: () => []
})

/** The same for a whole answer. */
export const chatAnswer = (answer: JsonObject, model: string): JsonObject => ({ ...without(answer, ...routing), model })

/**
 * Chat's chunks as Anthropic's events. One block is open at a time: it closes when another kind of content, or another
 * tool call, begins. Usage stands in the last delta, for chat sends it at the end. Pure but for its place in the
 * stream.
 */
export const chunksToEvents = (model: string): Translator => {
  const blocks = contentBlocks()
  let hasStarted = false
  let reason: string | undefined
  let usage: Usage = noUsage

  const start = (id: string | undefined): ReadonlyArray<JsonObject> => {
    if (hasStarted) return []
    hasStarted = true
    return [messageStart(model, id)]
  }
  return {
    push: (chunk) => {
      const [choice] = recordsAt(chunk, "choices")
      if (isRecord(chunk["usage"])) usage = openAiUsage(chunk["usage"])
      const started = start(textAt(chunk, "id"))
      if (choice === undefined) return started
      reason = textAt(choice, "finish_reason") ?? reason
      return [...started, ...contentOf(recordAt(choice, "delta")).flatMap(blocks.push)]
    },
    end: () => [
      ...start(undefined),
      ...blocks.close(),
      {
        type: "message_delta",
        delta: { stop_reason: anthropicReason(reason), stop_sequence: null },
        usage: asAnthropicUsage(usage)
      },
      { type: "message_stop" }
    ]
  }
}

const messageStart = (model: string, id: string | undefined): JsonObject => ({
  type: "message_start",
  message: {
    id: messageId(id),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: asAnthropicUsage(noUsage)
  }
})

/** A piece of content: it continues the open block if that is of the same kind. */
interface Content {
  readonly kind: string
  /** The first event's block. */
  readonly block: JsonObject
  readonly delta: JsonObject | undefined
}

const contentBlocks = () => {
  let index = -1
  let open: string | undefined
  const close = (): ReadonlyArray<JsonObject> => {
    if (open === undefined) return []
    open = undefined
    return [{ type: "content_block_stop", index }]
  }
  const push = ({ kind, block, delta }: Content): ReadonlyArray<JsonObject> => {
    const events: Array<JsonObject> = []
    if (open !== kind) {
      events.push(...close())
      open = kind
      index += 1
      events.push({ type: "content_block_start", index, content_block: block })
    }
    if (delta !== undefined) events.push({ type: "content_block_delta", index, delta })
    return events
  }
  return { push, close }
}

const contentOf = (delta: JsonObject): ReadonlyArray<Content> => {
  const thinking = reasoningOf(delta)
  const text = textAt(delta, "content") ?? ""
  const ofThinking: Content = {
    kind: "thinking",
    block: { type: "thinking", thinking: "", signature: "" },
    delta: { type: "thinking_delta", thinking }
  }
  const ofText: Content = { kind: "text", block: { type: "text", text: "" }, delta: { type: "text_delta", text } }
  return [
    ...(thinking === "" ? [] : [ofThinking]),
    ...(text === "" ? [] : [ofText]),
    ...recordsAt(delta, "tool_calls").map(toolContent)
  ]
}

const toolContent = (call: JsonObject): Content => {
  const { name, arguments: input } = recordAt(call, "function")
  const isSaid = typeof input === "string" && input !== ""
  return {
    kind: `tool ${String(call["index"] ?? 0)}`,
    block: { type: "tool_use", id: call["id"] ?? "", name: name ?? "", input: {} },
    delta: isSaid ? { type: "input_json_delta", partial_json: input } : undefined
  }
}

/** Anthropic's events as chat's chunks. Pure but for its place in the stream. */
export const eventsToChunks = (model: string, createdSeconds: number): Translator => {
  let id = ""
  let calls = -1
  let usage: JsonObject = {}
  let reason: string | undefined

  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...head(),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  })
  const head = () => ({ id, object: "chat.completion.chunk", created: createdSeconds, model })

  const started = (block: JsonObject) => {
    if (block["type"] !== "tool_use") return []
    calls += 1
    const declared = { name: block["name"], arguments: "" }
    return [chunk({ tool_calls: [{ index: calls, id: block["id"], type: "function", function: declared }] })]
  }
  const continued = (delta: JsonObject) => {
    switch (delta["type"]) {
      case "text_delta":
        return [chunk({ content: textAt(delta, "text") ?? "" })]
      case "thinking_delta":
        return [chunk({ reasoning_content: textAt(delta, "thinking") ?? "" })]
      case "input_json_delta":
        return [chunk({ tool_calls: [{ index: calls, function: { arguments: textAt(delta, "partial_json") ?? "" } }] })]
      default:
        return []
    }
  }
  return {
    push: (event) => {
      switch (event["type"]) {
        case "message_start": {
          const message = recordAt(event, "message")
          id = textAt(message, "id") ?? ""
          usage = recordAt(message, "usage")
          return [chunk({ role: "assistant", content: "" })]
        }
        case "content_block_start":
          return started(recordAt(event, "content_block"))
        case "content_block_delta":
          return continued(recordAt(event, "delta"))
        case "message_delta":
          reason = textAt(recordAt(event, "delta"), "stop_reason") ?? reason
          usage = { ...usage, ...present(recordAt(event, "usage")) }
          return []
        case "message_stop":
          return [
            chunk({}, openAiReason(reason)),
            { ...head(), choices: [], usage: asOpenAiUsage(anthropicUsage(usage)) }
          ]
        default:
          return []
      }
    },
    end: () => []
  }
}

/** Anthropic's own events as a caller gets them. */
export const anthropicEvents = (model: string): Translator => ({
  push: (event) =>
    event["type"] === "message_start" ? [{ ...event, message: { ...recordAt(event, "message"), model } }] : [event],
  end: () => []
})
