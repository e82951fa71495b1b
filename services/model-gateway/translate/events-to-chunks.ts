/** Anthropic's events as chat's chunks. Pure but for where in the stream it is. */
import { type JsonObject, present, recordAt, textAt } from "./json.ts"
import { anthropicUsage, asOpenAiUsage, openAiReason } from "./stop-reasons.ts"
import type { Translator } from "./Translator.ts"

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
