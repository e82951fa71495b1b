/**
 * Deliveries as messages. A due one has the envelope's bytes as its body, exactly as published, and one header for
 * everything else; the body is never parsed again on its way out. An abandoned one has a second header with the reason.
 * The delivery log, ATTEMPTS, stores its lines in batches of one endpoint and one outcome.
 */
import { hash } from "node:crypto"
import { Option, Result } from "effect"
import { Abandonment, AttemptBatch, Delivery, deliveryLaneOf, deliveryPartitionOf } from "#webhooks/contract"
import { orderedPartition, subjects } from "#base"
import { type HeaderPairs, jsonCodec, jsonTextDecoder, type MessageCodec, type SourceMessage } from "#bus"

/** A delivery with the bytes to send. */
export interface DueDelivery {
  readonly delivery: Delivery
  readonly body: Uint8Array
  /** Where it came from, and where its retries wait; the first lane if absent. */
  readonly lane?: number
  /** The last event with its key that was given up, if the receiver may not know of it. */
  readonly gap?: number | undefined
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

// A text from a receiver or its certificate can need six bytes per character. Together with the delivery's header both
// fit into ABANDONED's allowance beyond the largest event.
const whyBytesMax = 1_500

/** The text, or the longest prefix that fits into this many bytes of JSON. */
const clipped = (text: string): string => {
  let end = text.length
  while (Buffer.byteLength(JSON.stringify(text.slice(0, end))) > whyBytesMax) end = Math.floor(end * 0.8)
  return text.slice(0, end)
}

/** Both headers of an abandoned message: the original delivery, and why it was abandoned. */
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
  /** None if the header cannot be read: the delivery can still be sent again. */
  readonly abandonment: Option.Option<Abandonment>
}

/** Whether the body exists only in its event, if that is still kept. */
export const isBodyLeftOut = ({ abandonment }: AbandonedDelivery): boolean =>
  Option.exists(abandonment, (why) => why.isBodyLeftOut === true)

/** None for a message that is not a delivery. */
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

/** Where a delivery is published, or comes due again, in its lane. */
export const dueSubjectOf = ({ delivery: { endpointId, key }, lane = 0 }: DueDelivery) =>
  subjects.deliveries(lane).due(key === undefined ? deliveryPartitionOf(endpointId) : orderedPartition, endpointId)

/** A delivery id derived from a text: the same text gives the same id. Pure. */
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
