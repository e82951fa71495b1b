/**
 * The dispatcher's messages and records about deliveries, and the ids of endpoints. Times ending in `At` on the wire
 * are ISO-8601.
 */
import { Schema } from "effect"
import { Count, EpochMs, EventName, Ordinal, SchemaVersion, text, Timestamp, Uuid } from "#base"

/**
 * One event on its way to one endpoint. `storedAt`: when the event was stored; `dueAt`: the earliest time to send it
 * (both epoch milliseconds). `entity` keeps first attempts in order. `key`: deliveries of an ordered endpoint with
 * the same one wait for each other. `redriveOf`: the delivery that an operator sends
 * again with this one. `previousEndedAt`: when the attempt before this one ended. `isTest`: an operator's test, tried
 * once and abandoned without a trace except its attempt. `traceparent`: the trace in which the event was published, for
 * receivers of CloudEvents.
 */
export const Delivery = Schema.Struct({
  deliveryId: Uuid,
  endpointId: text(64),
  event: EventName,
  schemaVersion: SchemaVersion,
  sequence: Count,
  attempt: Ordinal,
  storedAt: EpochMs,
  dueAt: EpochMs,
  entity: Schema.optionalKey(Schema.String),
  key: Schema.optionalKey(text(64)),
  redriveOf: Schema.optionalKey(Uuid),
  previousEndedAt: Schema.optionalKey(EpochMs),
  isTest: Schema.optionalKey(Schema.Boolean),
  traceparent: Schema.optionalKey(text(55))
})
export interface Delivery extends Schema.Schema.Type<typeof Delivery> {}

/** An endpoint's id, as `endpointIdOf` makes it. */
export const EndpointId = Schema.String.check(Schema.isPattern(/^[0-9a-z]{13}$/u))

/**
 * An operator's request to a dispatcher, by where the source is stored. `Test`: the catalogue's example of an event.
 * `Resend`: the event at a position in EVENTS, under a new id, replacing the delivery `of`. `Redrive`: the delivery at
 * a position in ABANDONED.
 */
export const AskedDelivery = Schema.TaggedUnion({
  Test: { endpointId: EndpointId, event: EventName },
  Resend: { endpointId: EndpointId, deliveryId: Uuid, of: Uuid, sequence: Count },
  Redrive: { sequence: Ordinal }
})
export type AskedDelivery = typeof AskedDelivery.Type

/** The outcome, or why there is none. `NotKept`: its source is no longer kept, or cannot be read. */
export const AskedDeliveryAnswer = Schema.TaggedUnion({
  Stored: { deliveryId: Uuid },
  UnknownEndpoint: {},
  UnknownEvent: {},
  NotKept: {},
  Unavailable: { detail: Schema.String }
})
export type AskedDeliveryAnswer = typeof AskedDeliveryAnswer.Type

export const attemptOutcomes = ["delivered", "failed", "refused", "gone"] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** What a delivery's body is: the envelope, or a CloudEvent 1.0 as JSON, or its data with attributes in headers. */
export const deliveryFormats = ["starling", "cloudevents-structured", "cloudevents-binary"] as const
export type DeliveryFormat = (typeof deliveryFormats)[number]

const HeadersByName = Schema.Record(Schema.String, Schema.String)

/**
 * One line of the delivery log. Headers and the answer's body are kept for attempts that did not deliver.
 * `previousEndedAt`: when the attempt before it ended, to help find that attempt's line. `format`: of its body, the
 * envelope if absent.
 */
export const Attempt = Schema.Struct({
  deliveryId: Uuid,
  endpoint: Schema.String,
  event: EventName,
  sequence: Count,
  attempt: Ordinal,
  startedAt: Timestamp,
  durationMs: Count,
  outcome: Schema.Literals(attemptOutcomes),
  status: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String),
  responseBody: text(1_024),
  nextAttemptAt: Schema.NullOr(Timestamp),
  previousEndedAt: Schema.optionalKey(EpochMs),
  format: Schema.optionalKey(Schema.Literals(deliveryFormats)),
  requestHeaders: Schema.optionalKey(HeadersByName),
  responseHeaders: Schema.optionalKey(HeadersByName)
})
export interface Attempt extends Schema.Schema.Type<typeof Attempt> {}

export const AttemptBatch = Schema.Array(Attempt).check(Schema.isMaxLength(128))

/** Why a delivery was abandoned. `isBodyLeftOut`: with its body it was too large to be kept. */
export const Abandonment = Schema.Struct({
  endpoint: Schema.String,
  reason: Schema.String,
  attempts: Count,
  lastStatus: Schema.NullOr(Schema.Int),
  lastError: Schema.NullOr(Schema.String),
  abandonedAt: Timestamp,
  isBodyLeftOut: Schema.optionalKey(Schema.Boolean)
})
export interface Abandonment extends Schema.Schema.Type<typeof Abandonment> {}

/** The last event of a key that was given up. */
export const KeyGap = Schema.Struct({ sequence: Count })

/** The state of an endpoint beyond its configuration. */
export const EndpointState = Schema.Struct({
  name: Schema.String,
  paused: Schema.NullOr(Schema.Struct({ at: Timestamp, by: Schema.String, reason: Schema.String })),
  breakerOpenUntilMs: Schema.NullOr(EpochMs)
})
export interface EndpointState extends Schema.Schema.Type<typeof EndpointState> {}

const offsetBasis = 0xcbf29ce484222325n
const prime = 0x100000001b3n
const mask = 0xffffffffffffffffn
const utf8 = new TextEncoder()

/**
 * An endpoint's id: 13 lower-case letters and digits, made from its Name so that every replica and every start agrees.
 * 64-bit FNV-1a in base 36 is short, and valid in subjects and keys. Two names with one id are refused at the start.
 */
export const endpointIdOf = (name: string): string => {
  let hash = offsetBasis
  for (const byte of utf8.encode(name)) hash = ((hash ^ BigInt(byte)) * prime) & mask
  return hash.toString(36).padStart(13, "0")
}

/** The partition of DELIVERIES that holds an endpoint's messages, from 0. */
export const partitionOf = (endpointId: string, partitions: number): number =>
  Number.parseInt(endpointId.slice(-8), 36) % partitions

/** The number of partitions is fixed, because it is part of every stored subject. */
export const deliveryPartitions = 32

export const deliveryPartitionOf = (endpointId: string): number => partitionOf(endpointId, deliveryPartitions)

/** The lane of an endpoint's deliveries, given the number of lanes: partitions are dealt out in rotation. */
export const deliveryLaneOf = (endpointId: string, lanes: number): number => deliveryPartitionOf(endpointId) % lanes
