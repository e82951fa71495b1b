/**
 * Deliveries as messages. A due one has as its body the envelope's bytes exactly as they were published, and one header
 * holds everything else; the body is never parsed again on its way out. An abandoned one has a second header that says
 * why it ended. The delivery log, ATTEMPTS, has its lines in batches of one endpoint and one outcome. A test delivery is
 * the catalogue's example of an event, to one endpoint alone, tried once and marked as a test.
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
 *
 * A redrive sends abandoned deliveries again, by endpoint, event and time; a dry run counts them first.
 */
import { hash } from "node:crypto"
import { Clock, Effect, Option, Result, Schema, Stream } from "effect"
import {
  Abandonment,
  AttemptBatch,
  compileFilter,
  Delivery,
  deliveryLaneOf,
  deliveryPartitionOf,
  deliveryStream,
  endpointIdOf,
  eventSchemaVersion,
  exampleEnvelope,
  subjects
} from "#contracts"
import {
  type BusError,
  BusRefused,
  BusUnavailable,
  type HeaderPairs,
  jsonCodec,
  jsonTextDecoder,
  type MessageCodec,
  Publisher,
  relayRecordCodec,
  Requests,
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

/** Both headers of an abandoned message: the original delivery, and why it ended. */
export const abandonedHeaders = (delivery: Delivery, abandonment: Abandonment): HeaderPairs => [
  ...deliveryHeaders(delivery),
  [abandonmentHeader, JSON.stringify(abandonment)]
]

export interface AbandonedDelivery {
  /** Its place in ABANDONED. */
  readonly sequence: number
  readonly storedAtMs: number
  readonly due: DueDelivery
  /** None where the header cannot be read: the delivery can be sent again all the same. */
  readonly abandonment: Option.Option<Abandonment>
}

/** None for a message that is no delivery. */
export const readAbandoned = (message: SourceMessage): Option.Option<AbandonedDelivery> =>
  Option.map(Result.getSuccess(dueDeliveryCodec.decode(message)), (due) => ({
    sequence: message.sequence,
    storedAtMs: message.storedAtMs,
    due,
    abandonment: Result.getSuccess(decodeAbandonment(message.header(abandonmentHeader) ?? ""))
  }))

export const attemptBatchCodec = jsonCodec(AttemptBatch)

/** What became of a delivery that was asked for. */
const AskedDelivery = Schema.TaggedUnion({ Stored: {}, Unavailable: { detail: Schema.String } })
const askedCodec = jsonCodec(AskedDelivery)

// The broker's own patience with a write, and a moment for the dispatcher.
const askedWithinMs = 10_000

/** Has a dispatcher put a delivery among those that are due. One with the same id and attempt is put there once. */
export const askForDelivery = Effect.fn("askForDelivery")(function* (due: DueDelivery) {
  const question = { subject: subjects.deliveriesAsked, question: dueDeliveryCodec, answer: askedCodec }
  const answer = yield* (yield* Requests).ask({ ...question, timeoutMs: askedWithinMs }, due)
  if (answer._tag === "Stored") return
  return yield* new BusUnavailable({ operation: "send a delivery", detail: answer.detail })
})

// A redrive asks for sixteen at once; several may run.
const askedAtOnce = 64

/** Answers those who ask for deliveries, for as long as the scope. */
export const answerAskedDeliveries = Effect.gen(function* () {
  const store = ({ delivery, body }: DueDelivery) =>
    Effect.gen(function* () {
      const { lanes } = yield* readDeliveryLanes
      const options = { messageId: `${delivery.deliveryId}:1`, headers: deliveryHeaders(delivery) }
      yield* (yield* Publisher).publishRaw(dueSubject(delivery.endpointId, lanes), body, options)
      return AskedDelivery.make({ _tag: "Stored" })
    })
  yield* (yield* Requests).answer({
    subject: subjects.deliveriesAsked,
    queueGroup: "webhook-dispatcher",
    question: dueDeliveryCodec,
    answer: askedCodec,
    concurrency: askedAtOnce,
    handler: (due) =>
      Effect.catch(store(due), ({ message }) =>
        Effect.succeed(AskedDelivery.make({ _tag: "Unavailable", detail: message.slice(0, 1_000) }))
      )
  })
})

/** Sends a test and answers with the delivery's id. It goes the way of every delivery: through breaker, pause and order. */
export const sendTest = Effect.fn("sendTest")(function* (endpointId: string, event: string) {
  const nowMs = yield* Clock.currentTimeMillis
  const delivery: Delivery = {
    deliveryId: crypto.randomUUID(),
    endpointId,
    event,
    schemaVersion: eventSchemaVersion,
    // It stands nowhere in EVENTS.
    sequence: 0,
    attempt: 1,
    storedAt: nowMs,
    dueAt: nowMs,
    isTest: true
  }
  const body = new TextEncoder().encode(JSON.stringify(exampleEnvelope(event)))
  yield* askForDelivery({ delivery, body })
  return delivery.deliveryId
})

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

/** Selects abandoned deliveries; an absent field matches all. Times bound when they were abandoned. */
interface RedriveQuery {
  readonly endpoint?: string | undefined
  readonly events: ReadonlyArray<string>
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  /** The ids of the endpoints to send to; those of others stay where they are. */
  readonly endpointIds?: ReadonlySet<string>
  readonly countMax: number
  /** Nothing that was abandoned after this place in ABANDONED. */
  readonly through?: number | undefined
}

/** How many abandoned deliveries a redrive by this query would send, at most its `countMax`. Changes nothing. */
export const countAbandoned = (query: RedriveQuery) => Stream.runCount(selected(query))

/** The place of the last delivery that a query selects, 0 for none: one that is abandoned later is not part of it. */
export const lastAbandoned = (query: RedriveQuery) =>
  Stream.runFold(
    selected(query),
    () => 0,
    (_, { sequence }) => sequence
  )

/**
 * Sends abandoned deliveries again: each becomes a new delivery with a new id that names the old one, starts at attempt
 * 1, and leaves ABANDONED once it is stored. An interrupted redrive leaves the rest in place; a second run finds
 * nothing. Answers with how many were sent.
 */
export const redrive = Effect.fn("redrive")(function* (query: RedriveQuery) {
  return yield* selected(query).pipe(Stream.mapEffect(sendAgain, { concurrency: sendsAtOnce }), Stream.runCount)
})

// Enough to keep the broker busy beside live deliveries.
const sendsAtOnce = 16

/** The abandoned deliveries that a query selects, oldest first. */
const selected = (query: RedriveQuery) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const reader = yield* StreamReader
      const subject =
        query.endpoint === undefined ? subjects.abandonedAll : subjects.abandoned(endpointIdOf(query.endpoint))
      const { firstSequence, lastSequence } = yield* reader.bounds("ABANDONED")
      const toSequence = Math.min(lastSequence, query.through ?? lastSequence)
      if (toSequence < firstSequence) return Stream.empty
      const wants = compileFilter(query.events.length === 0 ? ["*"] : query.events)
      return reader.range("ABANDONED", { fromSequence: firstSequence, toSequence, subject }).pipe(
        Stream.filter((message) => isWithin(message, query)),
        Stream.flatMap((message) => Stream.fromIterable(Option.toArray(readAbandoned(message)))),
        Stream.filter(({ due: { delivery } }) => wants(delivery.event)),
        Stream.filter(({ due: { delivery } }) => query.endpointIds?.has(delivery.endpointId) !== false),
        // The count is limited before anything is sent, for the sending runs ahead.
        Stream.take(query.countMax)
      )
    })
  )

const isWithin = ({ storedAtMs }: SourceMessage, { sinceMs, untilMs }: RedriveQuery) =>
  storedAtMs >= (sinceMs ?? 0) && storedAtMs <= (untilMs ?? Number.POSITIVE_INFINITY)

/** Sends one again and takes it out of ABANDONED; answers with the id of the new delivery. */
export const sendAgain = Effect.fnUntraced(function* ({ sequence, due: { delivery, body } }: AbandonedDelivery) {
  const reader = yield* StreamReader
  const { previousEndedAt: _previous, ...first } = delivery
  const again: Delivery = {
    ...first,
    deliveryId: redriveId(delivery.deliveryId, sequence),
    redriveOf: delivery.deliveryId,
    attempt: 1,
    dueAt: yield* Clock.currentTimeMillis
  }
  yield* askForDelivery({ delivery: again, body })
  yield* reader.remove("ABANDONED", sequence)
  return again.deliveryId
})

// The same id for the same abandoned message, so that a redrive that starts again after a crash sends no second one.
const redriveId = (deliveryId: string, sequence: number) => deliveryIdFrom(`redrive ${deliveryId} ${sequence}`)

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
