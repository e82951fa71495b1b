/**
 * A due delivery as a message: the body is the envelope's bytes exactly as they were published, and one
 * header holds everything else. The body is never parsed again on its way out.
 */
import { Result } from "effect"
import { Delivery } from "#contracts"
import { type HeaderPairs, jsonTextDecoder, type MessageCodec } from "#bus"

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
