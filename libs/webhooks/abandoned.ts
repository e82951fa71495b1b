/**
 * Abandoned deliveries as ABANDONED has them: the envelope as the body, and in two headers the delivery and why it
 * ended.
 */
import { Option, Result } from "effect"
import { type HeaderPairs, jsonTextDecoder, type SourceMessage } from "#bus"
import { Abandonment, type Delivery } from "#contracts"
import { deliveryHeaders, type DueDelivery, dueDeliveryCodec } from "./delivery-codec.ts"

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
