/**
 * A stream from one shape to another: what follows from each event, and from the end. A translator lives as
 * long as its stream. Pure but for what it remembers of it.
 */
import { type JsonObject, isRecord, recordsAt, without } from "./json.ts"
import type { Usage } from "./stop-reasons.ts"

export interface Translator {
  readonly push: (event: JsonObject) => ReadonlyArray<JsonObject>
  /** The provider has said all. */
  readonly end: () => ReadonlyArray<JsonObject>
}

/** What a stream has told of itself so far. */
export interface StreamFacts {
  /** It said why it ended: what comes after may be missing, what came before is whole. */
  isFinished: boolean
  usage: Usage | undefined
}

export const chain = (first: Translator, second: Translator): Translator => ({
  push: (event) => first.push(event).flatMap(second.push),
  end: () => [...first.end().flatMap(second.push), ...second.end()]
})

// Says who answers behind a router.
const routing = ["provider", "provider_name", "x_groq", "service_tier"]

/** Chat's own chunks as a caller gets them: the caller's name for the model, usage only if it was asked for. Pure. */
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
