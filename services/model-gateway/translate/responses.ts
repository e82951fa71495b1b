/**
 * Chat's answers in the shape of OpenAI's responses: a whole answer, or a stream as numbered events: the response, its
 * items one after the other, and the whole again at the end. Both make the same object. Pure but for its place in the
 * stream.
 */
import { asResponsesUsage, firstChoice, openAiUsage, reasoningOf, textOf, type Usage } from "./answers.ts"
import type { Translator } from "./chat-stream.ts"
import { isRecord, type JsonObject, recordAt, recordsAt, textAt } from "./json.ts"

export const chatToResponse = (answer: JsonObject, model: string, request: JsonObject): JsonObject => {
  const choice = firstChoice(answer)
  const message = recordAt(choice, "message")
  const usage = answer["usage"]
  return responseOf({
    id: textAt(answer, "id") ?? "0",
    model,
    createdSeconds: typeof answer["created"] === "number" ? answer["created"] : 0,
    request,
    reasoning: reasoningOf(message),
    text: recordsAt(message, "tool_calls").length > 0 && textOf(message) === "" ? undefined : textOf(message),
    calls: recordsAt(message, "tool_calls").map((call) => {
      const declared = recordAt(call, "function")
      return {
        id: textAt(call, "id") ?? "",
        name: textAt(declared, "name") ?? "",
        input: textAt(declared, "arguments") ?? ""
      }
    }),
    reason: textAt(choice, "finish_reason"),
    usage: isRecord(usage) ? openAiUsage(usage) : undefined
  })
}

interface ResponseStreamOptions {
  readonly model: string
  readonly createdSeconds: number
  readonly request: JsonObject
}

export const chunksToResponse = (options: ResponseStreamOptions): Translator => {
  const items: Array<JsonObject> = []
  let id: string | undefined
  let sequence = 0
  let item: OpenItem | undefined
  let reason: string | undefined
  let usage: Usage | undefined

  const numbered = (events: ReadonlyArray<JsonObject>) =>
    events.map((event) => ({ ...event, sequence_number: sequence++ }))
  const parts = () => ({ ...options, id: id ?? "0" })
  const start = (given: string | undefined): ReadonlyArray<JsonObject> => {
    if (id !== undefined) return []
    id = given ?? "0"
    const response = responseHead(parts(), "in_progress", [])
    return [
      { type: "response.created", response },
      { type: "response.in_progress", response }
    ]
  }
  const close = (): ReadonlyArray<JsonObject> => {
    if (item === undefined) return []
    const { events, done } = item.close()
    items.push(done)
    item = undefined
    return events
  }
  const within = (kind: string, more: () => OpenItem, delta: string): ReadonlyArray<JsonObject> => {
    const events: Array<JsonObject> = []
    if (item?.kind !== kind) {
      events.push(...close())
      item = more()
      events.push(...item.opening)
    }
    return delta === "" ? events : [...events, item.push(delta)]
  }
  const at = () => ({ id: id ?? "0", index: items.length })
  const called = (call: JsonObject): ReadonlyArray<JsonObject> => {
    const declared = recordAt(call, "function")
    const made = { id: textAt(call, "id") ?? "", name: textAt(declared, "name") ?? "" }
    const kind = `call ${String(call["index"] ?? 0)}`
    return within(kind, () => openItem.call(kind, at(), made), textAt(declared, "arguments") ?? "")
  }
  const eventsOf = (delta: JsonObject): ReadonlyArray<JsonObject> => {
    const thinking = reasoningOf(delta)
    const text = textAt(delta, "content") ?? ""
    return [
      ...(thinking === "" ? [] : within("reasoning", () => openItem.reasoning(at()), thinking)),
      ...(text === "" ? [] : within("message", () => openItem.message(at()), text)),
      ...recordsAt(delta, "tool_calls").flatMap(called)
    ]
  }
  return {
    push: (chunk) => {
      const [choice] = recordsAt(chunk, "choices")
      if (isRecord(chunk["usage"])) usage = openAiUsage(chunk["usage"])
      const begun = start(textAt(chunk, "id"))
      const events = choice === undefined ? [] : eventsOf(recordAt(choice, "delta"))
      if (choice !== undefined) reason = textAt(choice, "finish_reason") ?? reason
      return numbered([...begun, ...events])
    },
    end: () => {
      const events = [...start(undefined), ...close()]
      const ending = endingOf(reason, usage)
      const response = { ...responseHead(parts(), ending.status, items), ...ending }
      return numbered([...events, { type: `response.${ending.status}`, response }])
    }
  }
}

/**
 * An item of a streamed response that is still growing: its opening event, each piece, and its closing event. Pure but
 * for its text.
 */
interface OpenItem {
  readonly kind: string
  readonly opening: ReadonlyArray<JsonObject>
  readonly push: (delta: string) => JsonObject
  readonly close: () => { readonly events: ReadonlyArray<JsonObject>; readonly done: JsonObject }
}

interface Place {
  /** The response's id. */
  readonly id: string
  /** The item's index among the items. */
  readonly index: number
}

const added = (index: number, item: JsonObject) => ({ type: "response.output_item.added", output_index: index, item })
const finished = (index: number, item: JsonObject) => ({ type: "response.output_item.done", output_index: index, item })

const message = ({ id, index }: Place): OpenItem => {
  let text = ""
  const own = `${id}_${index}`
  const place = { item_id: `msg_${own}`, output_index: index, content_index: 0 }
  return {
    kind: "message",
    opening: [
      added(index, messageItem(own, undefined, "in_progress")),
      { type: "response.content_part.added", ...place, part: textPart("") }
    ],
    push: (delta) => {
      text += delta
      return { type: "response.output_text.delta", ...place, delta, logprobs: [] }
    },
    close: () => {
      const done = messageItem(own, text, "completed")
      return {
        done,
        events: [
          { type: "response.output_text.done", ...place, text, logprobs: [] },
          { type: "response.content_part.done", ...place, part: textPart(text) },
          finished(index, done)
        ]
      }
    }
  }
}

const reasoning = ({ id, index }: Place): OpenItem => {
  let text = ""
  const own = `${id}_${index}`
  const place = { item_id: `rs_${own}`, output_index: index, summary_index: 0 }
  const part = (summary: string) => ({ type: "summary_text", text: summary })
  return {
    kind: "reasoning",
    opening: [
      added(index, reasoningItem(own, "")),
      { type: "response.reasoning_summary_part.added", ...place, part: part("") }
    ],
    push: (delta) => {
      text += delta
      return { type: "response.reasoning_summary_text.delta", ...place, delta }
    },
    close: () => {
      const done = reasoningItem(own, text)
      return {
        done,
        events: [
          { type: "response.reasoning_summary_text.done", ...place, text },
          { type: "response.reasoning_summary_part.done", ...place, part: part(text) },
          finished(index, done)
        ]
      }
    }
  }
}

const call = (kind: string, { id, index }: Place, made: { readonly id: string; readonly name: string }): OpenItem => {
  let input = ""
  const place = { item_id: `fc_${id}_${index}`, output_index: index }
  return {
    kind,
    opening: [added(index, callItem(id, index, { ...made, input: "" }, "in_progress"))],
    push: (delta) => {
      input += delta
      return { type: "response.function_call_arguments.delta", ...place, delta }
    },
    close: () => {
      const done = callItem(id, index, { ...made, input }, "completed")
      return {
        done,
        events: [
          { type: "response.function_call_arguments.done", ...place, name: made.name, arguments: input },
          finished(index, done)
        ]
      }
    }
  }
}

const openItem = { message, reasoning, call }

interface FunctionCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

interface ResponseParts {
  readonly id: string
  readonly model: string
  readonly createdSeconds: number
  /** The request; parts of it are repeated in the response. */
  readonly request: JsonObject
  readonly reasoning: string
  readonly text: string | undefined
  readonly calls: ReadonlyArray<FunctionCall>
  /** The reason in chat's words. */
  readonly reason: string | undefined
  readonly usage: Usage | undefined
}

type Status = "in_progress" | "completed" | "incomplete"

const responseHead = (
  { id, model, createdSeconds, request }: Pick<ResponseParts, "id" | "model" | "createdSeconds" | "request">,
  status: Status,
  output: ReadonlyArray<JsonObject>
): JsonObject => ({
  id: `resp_${id}`,
  object: "response",
  created_at: createdSeconds,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: request["instructions"] ?? null,
  max_output_tokens: request["max_output_tokens"] ?? null,
  metadata: request["metadata"] ?? {},
  model,
  output,
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
})

const reasoningItem = (id: string, text: string): JsonObject => ({
  id: `rs_${id}`,
  type: "reasoning",
  summary: text === "" ? [] : [{ type: "summary_text", text }]
})

const textPart = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], logprobs: [] })

const messageItem = (id: string, text: string | undefined, status: Status): JsonObject => ({
  id: `msg_${id}`,
  type: "message",
  status,
  role: "assistant",
  content: text === undefined ? [] : [textPart(text)]
})

const callItem = (id: string, at: number, call: FunctionCall, status: Status): JsonObject => ({
  id: `fc_${id}_${at}`,
  type: "function_call",
  status,
  call_id: call.id,
  name: call.name,
  arguments: call.input
})

/** What a response that has ended holds beside its head. */
const endingOf = (reason: string | undefined, usage: Usage | undefined) => {
  const cut = reason === "length" ? "max_output_tokens" : reason === "content_filter" ? "content_filter" : undefined
  return {
    status: cut === undefined ? ("completed" as const) : ("incomplete" as const),
    incomplete_details: cut === undefined ? null : { reason: cut },
    usage: usage === undefined ? null : asResponsesUsage(usage)
  }
}

const responseOf = (parts: ResponseParts): JsonObject => {
  const ending = endingOf(parts.reason, parts.usage)
  const output = [
    ...(parts.reasoning === "" ? [] : [reasoningItem(parts.id, parts.reasoning)]),
    ...(parts.text === undefined ? [] : [messageItem(parts.id, parts.text, ending.status)]),
    ...parts.calls.map((call, at) => callItem(parts.id, at, call, "completed"))
  ]
  return { ...responseHead(parts, ending.status, output), ...ending }
}
