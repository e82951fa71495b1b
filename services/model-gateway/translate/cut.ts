/**
 * Ends a provider's stream before it has ended by itself, as if its answer had reached its longest length. The last
 * events are made in the provider's own shape, so that every dialect says it in its own words. Pure but for its place
 * in the stream.
 */
import { type JsonObject, numberAt, recordAt, recordsAt } from "./json.ts"
import type { ProviderKind } from "./provider-apis.ts"

export interface StreamCut {
  /** Called for each event that is given out. */
  readonly see: (event: JsonObject) => void
  /** The events that end the stream. */
  readonly events: () => ReadonlyArray<JsonObject>
}

const openAiCut = (): StreamCut => {
  let head: JsonObject = {}
  const open = new Set<number>()
  return {
    see: (event) => {
      const { id, object, created, model } = event
      head = { id, object, created, model }
      for (const choice of recordsAt(event, "choices")) {
        const index = numberAt(choice, "index") ?? 0
        if (typeof choice["finish_reason"] === "string") open.delete(index)
        else open.add(index)
      }
    },
    events: () => [
      {
        ...head,
        choices: [...open].map((index) => ({ index, delta: {}, logprobs: null, finish_reason: "length" }))
      }
    ]
  }
}

const anthropicCut = (): StreamCut => {
  let open: number | undefined
  let usage: JsonObject = {}
  return {
    see: (event) => {
      if (event["type"] === "message_start") usage = recordAt(recordAt(event, "message"), "usage")
      if (event["type"] === "content_block_start") open = numberAt(event, "index") ?? 0
      if (event["type"] === "content_block_stop") open = undefined
    },
    events: () => [
      ...(open === undefined ? [] : [{ type: "content_block_stop", index: open }]),
      {
        type: "message_delta",
        delta: { stop_reason: "max_tokens", stop_sequence: null },
        usage: { output_tokens: numberAt(usage, "output_tokens") ?? 0 }
      },
      { type: "message_stop" }
    ]
  }
}

const cuts: Readonly<Record<ProviderKind, () => StreamCut>> = { openai: openAiCut, anthropic: anthropicCut }

export const streamCut = (kind: ProviderKind): StreamCut => cuts[kind]()

// Where providers put what a model wrote: text, thoughts, and the arguments of calls.
const written = new Set(["content", "text", "thinking", "reasoning_content", "reasoning", "arguments", "partial_json"])
const depthMax = 8

/** UTF-8 bytes of all that a model wrote, in an event or in a whole answer. */
export const writtenBytes = (value: unknown, depth = 0): number => {
  if (typeof value !== "object" || value === null || depth > depthMax) return 0
  let bytes = 0
  for (const [key, part] of Object.entries(value)) {
    if (typeof part === "string") bytes += written.has(key) ? Buffer.byteLength(part) : 0
    // The arguments of a whole call, as Anthropic writes them.
    else if (key === "input") bytes += Buffer.byteLength(JSON.stringify(part))
    else bytes += writtenBytes(part, depth + 1)
  }
  return bytes
}
