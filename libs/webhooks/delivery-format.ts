/** A delivery in the format of its endpoint. Made anew at each attempt, with the same bytes each time. Pure. */
import { binaryCloudEvent, structuredCloudEvent } from "#events/cloudevents"
import type { Delivery, DeliveryFormat } from "#webhooks/contract"
import type { DueDelivery } from "./deliveries.ts"

/** What leaves for the receiver. */
export interface FormattedDelivery extends DueDelivery {
  /** The content type and the attributes of a CloudEvent; none for an envelope. */
  readonly contentHeaders?: Readonly<Record<string, string>>
}

/** `source`: the source of events that did not come as a CloudEvent. */
export const formatted = (
  due: DueDelivery,
  { format, source }: { readonly format: DeliveryFormat; readonly source: string }
): FormattedDelivery => {
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
const cloudEventId = ({ isTest, deliveryId, sequence }: Delivery) => (isTest === true ? deliveryId : String(sequence))
