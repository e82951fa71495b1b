/**
 * Deliveries as messages. A due one has as its body the envelope's bytes exactly as they were published, and one header
 * holds everything else; the body is never parsed again on its way out. An abandoned one has a second header that says
 * why it ended. The delivery log, ATTEMPTS, has its lines in batches of one endpoint and one outcome. A test delivery is
 * the catalogue's example of an event, to one endpoint alone, tried once and marked as a test.
 */
import { Clock, Effect, Option, Result } from "effect"
import {
  Abandonment,
  AttemptBatch,
  Delivery,
  deliveryPartitionOf,
  eventSchemaVersion,
  exampleEnvelope,
  subjects
} from "#contracts"
import { type HeaderPairs, jsonCodec, jsonTextDecoder, type MessageCodec, Publisher, type SourceMessage } from "#bus"

/** A delivery with the bytes to send. */
export interface DueDelivery {
  readonly delivery: Delivery
  readonly body: Uint8Array
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

/** Sends a test and answers with the delivery's id. It goes the way of every delivery: through breaker, pause and order. */
export const sendTest = Effect.fn("sendTest")(function* (endpointId: string, event: string) {
  const publisher = yield* Publisher
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
  yield* publisher.publishRaw(subjects.deliveriesDue(deliveryPartitionOf(endpointId), endpointId), body, {
    messageId: `${delivery.deliveryId}:1`,
    headers: deliveryHeaders(delivery)
  })
  return delivery.deliveryId
})
