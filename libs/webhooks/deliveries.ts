/**
 * Deliveries as messages. A due one has as its body the envelope's bytes exactly as they were published, and one header
 * holds everything else; the body is never parsed again on its way out. An abandoned one has a second header that says
 * why it ended. The delivery log, ATTEMPTS, has its lines in batches of one endpoint and one outcome.
 *
 * The fan-out's cursor: how far it has come, as one value that is written together with the deliveries it accounts for;
 * and its moves, which are pure: its beginning, and endpoints that fall out of step or come back in. Beside it
 * stands the roster: the endpoints of the configuration that the fan-out knows, and since when one has been absent.
 *
 * `position`: every event up to this sequence has been fanned out to every endpoint that is in step.
 * `through`: the endpoints up to this id already have the event after it (one event may have more endpoints than one
 * batch takes).
 * `next`: the endpoints that are not in step, and the first event each still needs. Parked ones fall behind `position`;
 * newly configured ones may start after it. An endpoint is in step again when the two meet.
 * `ahead`: during a flood from outside, endpoints in step already have the fleet's own events up to this sequence.
 * `had`: the same for an endpoint that fell out of step meanwhile.
 * `roster`: fingerprint of the configured endpoints for which this holds.
 * `revision`: the change of the endpoints made at run time up to which it holds for these.
 * `lanes`: the number of lanes by which this lane's endpoints were chosen; absent for one. Lane 0's is the fleet's.
 * `lanesBefore`: in lane 0 alone, the number before, while endpoints still move.
 * `left`: the endpoints that belong to another lane now, and the first event each needs there. An entry stays until that
 * lane has taken the endpoint over, which it does once no delivery of the endpoint is due in this one.
 */
import { hash } from "node:crypto"
import { Effect, Option, Result, Schema } from "effect"
import { Abandonment, AttemptBatch, Delivery, deliveryLaneOf, deliveryPartitionOf } from "#webhooks/contract"
import { deliveryStream, subjects } from "#base"
import {
  type BusError,
  BusRefused,
  type HeaderPairs,
  jsonCodec,
  jsonTextDecoder,
  type MessageCodec,
  relayRecordCodec,
  type SourceMessage,
  StreamReader
} from "#bus"

/** A delivery with the bytes to send. */
export interface DueDelivery {
  readonly delivery: Delivery
  readonly body: Uint8Array
  /** Where it came from, and its retry waits; the first lane where absent. */
  readonly lane?: number
}

export const deliveryHeader = "Starling-Delivery"

const decodeHeader = jsonTextDecoder(Delivery)

export const deliveryHeaders = (delivery: Delivery): HeaderPairs => [[deliveryHeader, JSON.stringify(delivery)]]

export const dueDeliveryCodec: MessageCodec<DueDelivery> = {
  decode: (message) =>
    Result.map(decodeHeader(message.header(deliveryHeader) ?? ""), (delivery) => ({ delivery, body: message.data })),
  encode: ({ delivery, body }) => ({ data: body, headers: deliveryHeaders(delivery) })
}

const abandonmentHeader = "Starling-Abandonment"
const decodeAbandonment = jsonTextDecoder(Abandonment)

// What a receiver or its certificate says may need six bytes for each character. Beside the delivery's header both have
// room in what ABANDONED takes beyond the largest event.
const whyBytesMax = 1_500

/** The text, or as much of its beginning as fits into so many bytes of JSON. */
const clipped = (text: string): string => {
  let end = text.length
  while (Buffer.byteLength(JSON.stringify(text.slice(0, end))) > whyBytesMax) end = Math.floor(end * 0.8)
  return text.slice(0, end)
}

/** Both headers of an abandoned message: the original delivery, and why it ended. */
export const abandonedHeaders = (delivery: Delivery, abandonment: Abandonment): HeaderPairs => {
  const { reason, lastError } = abandonment
  const why = {
    ...abandonment,
    reason: clipped(reason),
    lastError: lastError === null ? null : clipped(lastError)
  }
  return [...deliveryHeaders(delivery), [abandonmentHeader, JSON.stringify(why)]]
}

export interface AbandonedDelivery {
  /** Its place in ABANDONED. */
  readonly sequence: number
  readonly storedAtMs: number
  readonly due: DueDelivery
  /** None where the header cannot be read: the delivery can be sent again all the same. */
  readonly abandonment: Option.Option<Abandonment>
}

/** Whether only its event, where that is still kept, has its body. */
export const isBodyLeftOut = ({ abandonment }: AbandonedDelivery): boolean =>
  Option.exists(abandonment, (why) => why.isBodyLeftOut === true)

/** None for a message that is no delivery. */
export const readAbandoned = (message: SourceMessage): Option.Option<AbandonedDelivery> =>
  Option.map(Result.getSuccess(dueDeliveryCodec.decode(message)), (due) => ({
    sequence: message.sequence,
    storedAtMs: message.storedAtMs,
    due,
    abandonment: Result.getSuccess(decodeAbandonment(message.header(abandonmentHeader) ?? ""))
  }))

export const attemptBatchCodec = jsonCodec(AttemptBatch)

/** Where a new delivery to an endpoint is published. */
export const dueSubject = (endpointId: string, lanes: number) =>
  subjects.deliveries(deliveryLaneOf(endpointId, lanes)).due(deliveryPartitionOf(endpointId), endpointId)

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

/** The cursor as it is stored. */
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

/** Takes an endpoint out of step at its place; one that is already out stays where it is. */
export const park = (cursor: FanOutCursor, endpointId: string): FanOutCursor => {
  if (cursor.next[endpointId] !== undefined) return cursor
  const parked = { ...cursor, next: { ...cursor.next, [endpointId]: firstNeeded(cursor, endpointId) } }
  return cursor.ahead === undefined ? parked : { ...parked, had: { ...cursor.had, [endpointId]: cursor.ahead } }
}

/** Gives endpoints that are new here their places, each by the first event it needs: in step, if that is the next one. */
export const placed = (cursor: FanOutCursor, firsts: Iterable<readonly [id: string, first: number]>): FanOutCursor => {
  const next = { ...cursor.next }
  for (const [id, first] of firsts)
    if (cursor.ahead !== undefined || first !== firstNeeded(cursor, id)) next[id] = first
  return { ...cursor, next }
}

/**
 * Puts every endpoint whose need meets the position back in step, except those that must stay parked. While others have
 * events ahead nobody joins them.
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

export const Roster = Schema.Struct({
  endpoints: Schema.Record(
    Schema.String,
    Schema.Struct({ name: Schema.String, absentSinceMs: Schema.NullOr(Schema.Int) })
  )
})
export interface Roster extends Schema.Schema.Type<typeof Roster> {}

export const rosterCodec = jsonCodec(Roster)
export const emptyRoster: Roster = { endpoints: {} }

/** A lane's stored roster; empty before its first fan-out. */
export const readRoster = Effect.fnUntraced(function* (lane: number): Effect.fn.Return<Roster, BusError, StreamReader> {
  const stored = yield* (yield* StreamReader).last(deliveryStream(lane), subjects.deliveries(lane).roster)
  if (Option.isNone(stored)) return emptyRoster
  const decoded = rosterCodec.decode(stored.value)
  if (Result.isSuccess(decoded)) return decoded.success
  const detail = `the stored roster is broken: ${JSON.stringify(decoded.failure)}`
  return yield* new BusRefused({ operation: "read the roster", detail, code: 0 })
})

/** A lane's stored cursor; none before its first fan-out, and where a later release wrote what this one cannot read. */
export const readFanOutCursor = Effect.fnUntraced(function* (
  lane: number
): Effect.fn.Return<Option.Option<FanOutCursor>, BusError, StreamReader> {
  const stored = yield* (yield* StreamReader).last(deliveryStream(lane), subjects.deliveries(lane).cursor)
  return Option.map(
    Option.flatMap(stored, (message) => Result.getSuccess(fanOutRecordCodec.decode(message))),
    ({ cursor }) => cursor
  )
})

/** The lanes of the fleet: how many, and how many may still hold deliveries because endpoints move. */
export interface DeliveryLaneCounts {
  readonly lanes: number
  readonly streams: number
}

/** The lanes that the fan-out goes by now, one before the first fan-out. */
export const readDeliveryLanes = Effect.map(readFanOutCursor(0), (cursor): DeliveryLaneCounts => {
  const { lanes = 1, lanesBefore = 1 } = Option.getOrElse(cursor, () => beginCursor(0))
  return { lanes, streams: Math.max(lanes, lanesBefore) }
})

/** A delivery's id made of a text: the same text gives the same id. Pure. */
export const deliveryIdFrom = (text: string): string => {
  const digits = hash("sha256", text, "hex")
  const variant = "89ab"[Number.parseInt(digits[16] ?? "0", 16) % 4]
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32)
  ].join("-")
}
