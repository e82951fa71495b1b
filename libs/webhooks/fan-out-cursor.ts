/**
 * The fan-out's cursor: how far it has come, as one value that is written together with the deliveries it accounts for.
 *
 * `position`: every event up to this sequence has been fanned out to every endpoint that is in step.
 * `through`: the endpoints up to this id already have the event after it (one event may have more endpoints than one
 * batch takes).
 * `next`: the endpoints that are not in step, and the first event each still needs. Parked ones fall behind `position`;
 * newly configured ones may start after it. An endpoint is in step again when the two meet.
 * `roster`: fingerprint of the configured endpoints for which this holds.
 * `revision`: the change of the endpoints made at run time up to which it holds for these.
 */
import { Schema } from "effect"
import { relayRecordCodec } from "#bus"

const Sequence = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const FanOutCursor = Schema.Struct({
  position: Sequence,
  through: Schema.NullOr(Schema.String),
  next: Schema.Record(Schema.String, Sequence),
  roster: Schema.String,
  revision: Schema.optionalKey(Sequence)
})
export interface FanOutCursor extends Schema.Schema.Type<typeof FanOutCursor> {}

/** The cursor as it is stored. */
export const fanOutRecordCodec = relayRecordCodec(FanOutCursor)
