/**
 * The APIs that providers speak, one entry each: how a provider is called, and what each event of its answer reports
 * about usage and the end.
 */
import { Result } from "effect"
import * as Sse from "effect/encoding/Sse"
import type { ModelEntry, ProviderEntry } from "#gateway/contract"
import { isRecord, type JsonObject, numberAt, recordAt, recordsAt, textAt } from "./json.ts"
import { anthropicUsage, openAiUsage, type Usage } from "./usage.ts"
import { writtenBytes } from "./written-bytes.ts"

export type ProviderKind = ProviderEntry["Kind"]

/** The facts that a stream has shown so far. */
export interface StreamFacts {
  /** The provider has given its reason for ending: later events may be missing, but everything before is complete. */
  isFinished: boolean
  usage: Usage | undefined
  /** UTF-8 bytes of what the model wrote. */
  answerBytes: number
}

interface ProviderApi {
  /** Relative to the provider's base URL. */
  readonly path: string
  readonly serves: ReadonlyArray<ModelEntry["Kind"]>
  readonly keyHeaders: (key: string) => Readonly<Record<string, string>>
  /** The headers except the key. `callers`: headers that the caller sent for this API. */
  readonly headers: (callers: Readonly<Record<string, string>>) => Readonly<Record<string, string>>
  /** The key of the list that a complete answer must have. */
  readonly contentKey: string
  readonly usageOf: (usage: JsonObject) => Usage
  /** Adds the facts of one event. */
  readonly readFacts: (facts: StreamFacts, event: JsonObject) => void
}

const anthropicVersion = "2023-06-01"

export const providerApis: Readonly<Record<ProviderKind, ProviderApi>> = {
  openai: {
    path: "/chat/completions",
    serves: ["chat", "image", "embedding"],
    keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
    headers: () => ({}),
    contentKey: "choices",
    usageOf: openAiUsage,
    readFacts: (facts, event) => {
      if (isRecord(event["usage"])) facts.usage = openAiUsage(event["usage"])
      if (recordsAt(event, "choices").some((choice) => textAt(choice, "finish_reason") !== undefined))
        facts.isFinished = true
    }
  },
  anthropic: {
    path: "/messages",
    serves: ["chat"],
    keyHeaders: (key) => ({ "x-api-key": key }),
    headers: (callers) => ({ "anthropic-version": anthropicVersion, ...callers }),
    contentKey: "content",
    usageOf: anthropicUsage,
    readFacts: (facts, event) => {
      if (event["type"] === "message_stop") facts.isFinished = true
      const usage = event["type"] === "message_start" ? recordAt(event, "message")["usage"] : event["usage"]
      if (!isRecord(usage)) return
      const now = anthropicUsage(usage)
      const { usage: before } = facts
      facts.usage = before === undefined || now.inputTokens > 0 ? now : { ...before, outputTokens: now.outputTokens }
    }
  }
}

export type Decoded =
  | { readonly _tag: "Event"; readonly event: JsonObject }
  /** The provider's own reason for stopping. */
  | { readonly _tag: "Error"; readonly status: number; readonly text: string }
  | { readonly _tag: "Garbage"; readonly text: string }
  | { readonly _tag: "End" }

// The longest event is a reasoning model's complete answer in one piece.
const eventCharactersMax = 4 * 1_024 * 1_024

/**
 * Decodes a provider's server-sent events from pieces of any size: each event as JSON, errors as errors. It tracks
 * whether the provider has given a reason for the end; a stream that stops before that is broken. An unfinished event
 * is held only up to a bound. The only state is the place in the stream.
 */
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
  facts.answerBytes += writtenBytes(event)
  return { _tag: "Event", event }
}
