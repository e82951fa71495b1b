/**
 * The fan-out's cursor: its progress, as one value that is written together with the deliveries it accounts for; and
 * its pure moves: its beginning, and endpoints that fall out of step or rejoin.
 *
 * `position`: every event up to this sequence has been fanned out to every endpoint in step. `through`: the endpoints
 * up to this id already have the event after it (one event can have more endpoints than one batch takes). `next`: the
 * endpoints out of step, and the first event each still needs. Parked ones fall behind `position`; newly configured
 * ones can start after it. An endpoint is in step again when the two meet. `ahead`: during a flood from outside,
 * endpoints in step already have the fleet's own events up to this sequence. `had`: the same for an endpoint that fell
 * out of step meanwhile. `roster`: fingerprint of the configured endpoints for which this holds. `revision`: the change
 * of runtime endpoints up to which it holds for these. `lanes`: the number of lanes by which this lane's endpoints were
 * chosen; absent for one. Lane 0's is the fleet's. `lanesBefore`: in lane 0 alone, the previous number, while endpoints
 * still move. `left`: the endpoints that now belong to another lane, and the first event each needs there. An entry
 * stays until that lane has taken the endpoint over, which it does once no delivery of the endpoint is due in this one.
 */
import { Effect, Option, Result, Schema } from "effect"
import { deliveryStream, subjects } from "#base"
import { type BusError, relayRecordCodec, StreamReader } from "#bus"

const Sequence = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const FanOutCursor = Schema.Struct({
  position: Sequence,
  through: Schema.NullOr(Schema.String),
  next: Schema.Record(Schema.String, Sequence),
  ahead: Schema.optionalKey(Sequence),
  had: Schema.optionalKey(Schema.Record(Schema.String, Sequence)),
  roster: Schema.String,
  revision: Schema.optionalKey(Sequence),
  lanes: Schema.optionalKey(Schema.Int),
  lanesBefore: Schema.optionalKey(Schema.Int),
  left: Schema.optionalKey(Schema.Record(Schema.String, Sequence))
})
export interface FanOutCursor extends Schema.Schema.Type<typeof FanOutCursor> {}

/** The stored form of the cursor. */
export const fanOutRecordCodec = relayRecordCodec(FanOutCursor)

/** The cursor of a fan-out that never ran: events published before it belong to no endpoint. */
export const beginCursor = (lastSequence: number): FanOutCursor => ({
  position: lastSequence,
  through: null,
  next: {},
  roster: ""
})

/** Whether this endpoint already has the event after `position`. */
export const hasNextEvent = (cursor: FanOutCursor, endpointId: string) =>
  cursor.through !== null && endpointId <= cursor.through

/** The first event that an endpoint in step still needs. */
export const firstNeeded = (cursor: FanOutCursor, endpointId: string) =>
  cursor.position + (hasNextEvent(cursor, endpointId) ? 2 : 1)

/** Takes an endpoint out of step at its position; one that is already out keeps its own. */
export const park = (cursor: FanOutCursor, endpointId: string): FanOutCursor => {
  if (cursor.next[endpointId] !== undefined) return cursor
  const parked = { ...cursor, next: { ...cursor.next, [endpointId]: firstNeeded(cursor, endpointId) } }
  return cursor.ahead === undefined ? parked : { ...parked, had: { ...cursor.had, [endpointId]: cursor.ahead } }
}

/** Gives this lane's new endpoints their positions, by the first event each needs: in step, if that is the next one. */
export const placed = (cursor: FanOutCursor, firsts: Iterable<readonly [id: string, first: number]>): FanOutCursor => {
  const next = { ...cursor.next }
  for (const [id, first] of firsts)
    if (cursor.ahead !== undefined || first !== firstNeeded(cursor, id)) next[id] = first
  return { ...cursor, next }
}

/**
 * Puts every endpoint whose first needed event meets the position back in step, except those that must stay parked.
 * While others have events ahead, none joins them.
 */
export const join = (cursor: FanOutCursor, staysParked: (endpointId: string) => boolean): FanOutCursor => {
  if (cursor.ahead !== undefined) return cursor
  const met = Object.keys(cursor.next).filter((id) => cursor.next[id] === firstNeeded(cursor, id) && !staysParked(id))
  if (met.length === 0) return cursor
  const next = { ...cursor.next }
  for (const id of met) delete next[id]
  if (cursor.had === undefined) return { ...cursor, next }
  const { had, ...others } = cursor
  const rest = Object.fromEntries(Object.entries(had).filter(([id]) => next[id] !== undefined))
  return { ...others, next, ...(Object.keys(rest).length === 0 ? {} : { had: rest }) }
}

/** A lane's stored cursor; none before its first fan-out, or if a later release wrote something unreadable here. */
export const readFanOutCursor = Effect.fnUntraced(function* (
  lane: number
): Effect.fn.Return<Option.Option<FanOutCursor>, BusError, StreamReader> {
  const stored = yield* (yield* StreamReader).last(deliveryStream(lane), subjects.deliveries(lane).cursor)
  return Option.map(
    Option.flatMap(stored, (message) => Result.getSuccess(fanOutRecordCodec.decode(message))),
    ({ cursor }) => cursor
  )
})

/** The fleet's lanes: how many, and how many can still hold deliveries because endpoints move. */
export interface DeliveryLaneCounts {
  readonly lanes: number
  readonly streams: number
}

/** The number of lanes that the fan-out currently uses; one before the first fan-out. */
export const readDeliveryLanes = Effect.map(readFanOutCursor(0), (cursor): DeliveryLaneCounts => {
  const { lanes = 1, lanesBefore = 1 } = Option.getOrElse(cursor, () => beginCursor(0))
  return { lanes, streams: Math.max(lanes, lanesBefore) }
})
