/**
 * How far the fan-out has come, as one value that is written together with the deliveries it accounts for.
 *
 * `position`: every event up to this sequence has been fanned out to every endpoint that is in step.
 * `through`: of the event after it, the endpoints up to this id have theirs already (one event may have
 * more endpoints than one batch takes). `next`: the endpoints that are not in step, and the first event
 * each still needs: parked ones fall behind `position`, newly configured ones may start after it. An
 * endpoint is in step again when the two meet. `roster`: fingerprint of the endpoints this is true of.
 */
import { Schema } from "effect"
import { relayRecordCodec } from "#bus"

const Sequence = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const FanOutCursor = Schema.Struct({
  position: Sequence,
  through: Schema.NullOr(Schema.String),
  next: Schema.Record(Schema.String, Sequence),
  roster: Schema.String
})
export interface FanOutCursor extends Schema.Schema.Type<typeof FanOutCursor> {}

/** The cursor as it is stored. */
export const fanOutRecordCodec = relayRecordCodec(FanOutCursor)

/** The cursor of a fan-out that never ran: what was published before is nobody's. */
export const beginCursor = (lastSequence: number): FanOutCursor => ({
  position: lastSequence,
  through: null,
  next: {},
  roster: ""
})

/** Of the event after `position`, has this endpoint been written already? */
export const hasNextEvent = (cursor: FanOutCursor, endpointId: string) =>
  cursor.through !== null && endpointId <= cursor.through

/** First event that an endpoint in step still needs. */
export const firstNeeded = (cursor: FanOutCursor, endpointId: string) =>
  cursor.position + (hasNextEvent(cursor, endpointId) ? 2 : 1)

/** Takes an endpoint out of step where it stands; one that is out already stays where it is. */
export const park = (cursor: FanOutCursor, endpointId: string): FanOutCursor =>
  cursor.next[endpointId] === undefined
    ? { ...cursor, next: { ...cursor.next, [endpointId]: firstNeeded(cursor, endpointId) } }
    : cursor

/** Brings every endpoint in step whose need meets the position, except those that must stay parked. */
export const join = (cursor: FanOutCursor, staysParked: (endpointId: string) => boolean): FanOutCursor => {
  const met = Object.keys(cursor.next).filter((id) => cursor.next[id] === firstNeeded(cursor, id) && !staysParked(id))
  if (met.length === 0) return cursor
  const next = { ...cursor.next }
  for (const id of met) delete next[id]
  return { ...cursor, next }
}
