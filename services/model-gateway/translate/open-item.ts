/** An item of a streamed response while it is being said: what opens it, each piece, and what closes it. Pure but for its text. */
import type { JsonObject } from "./json.ts"
import { callItem, messageItem, reasoningItem, textPart } from "./response-object.ts"

export interface OpenItem {
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

export const openItem = { message, reasoning, call }
