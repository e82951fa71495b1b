/**
 * A stream from one shape to another: what follows from each event, and from the end. A translator lives as
 * long as its stream. Pure but for what it remembers of it.
 */
import type { JsonObject } from "./json.ts"
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
