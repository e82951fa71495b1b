/**
 * A due delivery as a message: the body is the envelope's bytes exactly as they were published, and one
 * header holds everything else. The body is never parsed again on its way out.
 */
import { Result } from "effect"
import { Delivery } from "#contracts"
import { jsonCodec, type HeaderPairs, type MessageCodec } from "#bus"

/** A delivery with the bytes to send. */
export interface DueDelivery {
  readonly delivery: Delivery
  readonly body: Uint8Array
}

export const deliveryHeader = "Starling-Delivery"

const headerCodec = jsonCodec(Delivery)
const empty = new Uint8Array(0)
const utf8 = new TextEncoder()

export const deliveryHeaders = (delivery: Delivery): HeaderPairs => [[deliveryHeader, JSON.stringify(delivery)]]

export const dueDeliveryCodec: MessageCodec<DueDelivery> = {
  decode: (message) => {
    const header = message.header(deliveryHeader)
    const data = header === undefined ? empty : utf8.encode(header)
    return Result.map(headerCodec.decode({ data, header: message.header }), (delivery) => ({
      delivery,
      body: message.data
    }))
  },
  encode: ({ delivery, body }) => ({ data: body, headers: deliveryHeaders(delivery) })
}
