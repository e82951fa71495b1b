/** What a publisher is answered, by `publish.<name>` and by HTTP. */
import { Schema } from "effect"
import { Count, Fault, Ordinal } from "#base"

/** An event that is stored. `duplicate`: the same was stored before, at this place. */
export const StoredEventPlace = Schema.Struct({ sequence: Ordinal, duplicate: Schema.Boolean })
export interface StoredEventPlace extends Schema.Schema.Type<typeof StoredEventPlace> {}

/**
 * The answer to `publish.<name>`. `Refused`: nothing is stored; all that is wrong, with JSON pointers into the event.
 * `Unavailable`: it may be stored or not; the same again, with the same `Nats-Msg-Id`, is stored once.
 */
export const PublishAnswer = Schema.TaggedUnion({
  Stored: StoredEventPlace.fields,
  Refused: { faults: Schema.Array(Fault) },
  Unavailable: { detail: Schema.String, retryAfterMs: Count }
})
export type PublishAnswer = typeof PublishAnswer.Type
