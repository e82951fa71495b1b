/**
 * Decodes a provider's server-sent events from pieces of any size: each event as JSON, errors as errors. It knows
 * whether the provider has given a reason for the end; a stream that stops before that is broken. An unfinished event is
 * held only up to a bound. The only state is the place in the stream.
 */
import { Result } from "effect"
import * as Sse from "effect/encoding/Sse"
import { isRecord, type JsonObject, numberAt, recordAt } from "../translate/json.ts"
import { providerApis, type ProviderKind, type StreamFacts } from "../translate/provider-apis.ts"

export type Decoded =
  | { readonly _tag: "Event"; readonly event: JsonObject }
  /** The provider's own reason for stopping. */
  | { readonly _tag: "Error"; readonly status: number; readonly text: string }
  | { readonly _tag: "Garbage"; readonly text: string }
  | { readonly _tag: "End" }

// The longest event is a whole answer of a reasoning model in one piece.
const eventCharactersMax = 4 * 1_024 * 1_024

export const eventDecoder = (kind: ProviderKind, facts: StreamFacts) => {
  const utf8 = new TextDecoder("utf-8")
  let decoded: Array<Decoded> = []
  const parser = Sse.makeParser(
    (event) => {
      if (event._tag === "Event") decoded.push(read(kind, facts, event.data))
    },
    { maxEventSize: eventCharactersMax }
  )
  return (bytes: Uint8Array): ReadonlyArray<Decoded> => {
    const error = parser.feed(utf8.decode(bytes, { stream: true }))
    const found = error === undefined ? decoded : [...decoded, { _tag: "Garbage" as const, text: "an endless event" }]
    decoded = []
    return found
  }
}

const read = (kind: ProviderKind, facts: StreamFacts, data: string): Decoded => {
  if (data === "[DONE]") return { _tag: "End" }
  const event = Result.getOrUndefined(Result.try(() => JSON.parse(data) as unknown))
  if (!isRecord(event)) return { _tag: "Garbage", text: data.slice(0, 200) }
  if (event["type"] === "error" || (event["error"] ?? null) !== null) {
    const code = numberAt(recordAt(event, "error"), "code") ?? 500
    return { _tag: "Error", status: code >= 400 && code < 600 ? code : 500, text: data }
  }
  providerApis[kind].readFacts(facts, event)
  return { _tag: "Event", event }
}
