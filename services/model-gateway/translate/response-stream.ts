/**
 * Chat's chunks as the events of responses, numbered: the response, its items one after the other, and the
 * whole again at the end. Pure but for where in the stream it is.
 */
import { thoughtOf } from "./answers.ts"
import { isRecord, type JsonObject, recordAt, recordsAt, textAt } from "./json.ts"
import { endingOf, responseHead, callItem, messageItem, reasoningItem, textPart } from "./response-object.ts"
import { openAiUsage, type Usage } from "./stop-reasons.ts"
import type { Translator } from "./chat-stream.ts"

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
  const said = (delta: JsonObject): ReadonlyArray<JsonObject> => {
    const thought = thoughtOf(delta)
    const text = textAt(delta, "content") ?? ""
    return [
      ...(thought === "" ? [] : within("reasoning", () => openItem.reasoning(at()), thought)),
      ...(text === "" ? [] : within("message", () => openItem.message(at()), text)),
      ...recordsAt(delta, "tool_calls").flatMap(called)
    ]
  }
  return {
    push: (chunk) => {
      const [choice] = recordsAt(chunk, "choices")
      if (isRecord(chunk["usage"])) usage = openAiUsage(chunk["usage"])
      const begun = start(textAt(chunk, "id"))
      const events = choice === undefined ? [] : said(recordAt(choice, "delta"))
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

/** An item of a streamed response while it is being said: what opens it, each piece, and what closes it. Pure but for its text. */
interface OpenItem {
  readonly kind: string
  readonly opening: ReadonlyArray<JsonObject>
  readonly push: (delta: string) => JsonObject
  readonly close: () => { readonly events: ReadonlyArray<JsonObject>; readonly done: JsonObject }
}

interface Place {
  /** The response's. */
  readonly id: string
  /** The item's, among the items. */
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
  const part = (said: string) => ({ type: "summary_text", text: said })
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
