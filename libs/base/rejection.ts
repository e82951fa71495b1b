/** The rejection of an unreadable message of any kind. */
import { Schema } from "effect"
import { Count, Fault, Timestamp } from "./primitives.ts"

/** A message that failed its schema. `sequence` is its position in the stream it came from, if any. */
export const Rejection = Schema.Struct({
  origin: Schema.String,
  subject: Schema.String,
  sequence: Schema.NullOr(Count),
  faults: Schema.Array(Fault),
  receivedAt: Timestamp,
  payloadBase64: Schema.String,
  truncated: Schema.Boolean
})
/** What a publisher is told of an event that was refused after it was stored. */
export const RefusedEvent = Schema.Struct({
  /** As it was published: `events.order.created`. */
  subject: Schema.String,
  /** Its place in EVENTS. */
  sequence: Schema.NullOr(Count),
  faults: Schema.Array(Fault),
  refusedAt: Timestamp
})
export interface RefusedEvent extends Schema.Schema.Type<typeof RefusedEvent> {}

export interface Rejection extends Schema.Schema.Type<typeof Rejection> {}
