/**
 * Chat's chunks as the events of responses, numbered: the response, its items one after the other, and the
 * whole again at the end. Pure but for where in the stream it is.
 */
import { thoughtOf } from "./answers.ts"
import { isRecord, type JsonObject, recordAt, recordsAt, textAt } from "./json.ts"
import { openItem, type OpenItem } from "./open-item.ts"
import { endingOf, responseHead } from "./response-object.ts"
import { openAiUsage, type Usage } from "./stop-reasons.ts"
import type { Translator } from "./Translator.ts"

export interface ResponseStreamOptions {
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
