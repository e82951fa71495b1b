/** A test delivery: the catalogue's example of an event, to one endpoint alone, tried once and marked as a test. */
import { Clock, Effect } from "effect"
import { Publisher } from "#bus"
import { type Delivery, deliveryPartitionOf, eventSchemaVersion, exampleEnvelope, subjects } from "#contracts"
import { deliveryHeaders } from "./deliveries.ts"

/** Answers with the delivery's id. It goes the way of every delivery: through breaker, pause and order. */
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
