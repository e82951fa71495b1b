/** A delivery in the format of its endpoint. Made anew at each attempt, with the same bytes each time. Pure. */
import { binaryCloudEvent, structuredCloudEvent } from "#events/cloudevents"
import type { Delivery, DeliveryFormat } from "#webhooks/contract"

/** What the format of a delivery is made of. */
interface ToFormat {
  readonly delivery: Pick<Delivery, "deliveryId" | "event" | "sequence" | "isTest"> & {
    readonly entity?: string | undefined
    readonly traceparent?: string | undefined
  }
  readonly body: Uint8Array
}

export interface Format {
  readonly format: DeliveryFormat
  /** The source of events that did not come as a CloudEvent. */
  readonly source: string
}

/** With the content type and the attributes of a CloudEvent; none for an envelope. */
export type Formatted<A> = A & { readonly contentHeaders?: Readonly<Record<string, string>> }

export const formatted = <A extends ToFormat>(due: A, { format, source }: Format): Formatted<A> => {
  if (format === "starling") return due
  const { delivery, body } = due
  const made = (format === "cloudevents-binary" ? binaryCloudEvent : structuredCloudEvent)({
    type: delivery.event,
    body,
    id: cloudEventId(delivery),
    source,
    subject: delivery.entity,
    sequence: delivery.sequence,
    traceparent: delivery.traceparent
  })
  return { ...due, body: made.body, contentHeaders: made.headers }
}

/** Of a resend the same as before; each test is an event of its own. */
const cloudEventId = ({ isTest, deliveryId, sequence }: ToFormat["delivery"]) =>
  isTest === true ? deliveryId : String(sequence)
