/** Events of a deployment's own services over HTTP: one, or a batch, as envelopes or as CloudEvents. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { describe } from "#base"
import { guarded } from "#base/http"
import { StoredEventPlace } from "#events/contract"
import { pipelineEndpoints } from "./parts.ts"

/** As many as a publisher collects in a moment. */
export const eventsPerRequestMax = 100

const Event = Schema.Record(Schema.String, Schema.Unknown).annotate({
  identifier: "PublishedEvent",
  description:
    "An envelope (`event`, `eventSchemaVersion`, `occurredAt`, `details`), or a CloudEvent 1.0 in its JSON format."
})

const PublishedEvents = Schema.Union([
  Event,
  Schema.Array(Event).check(Schema.isMinLength(1), Schema.isMaxLength(eventsPerRequestMax))
]).annotate({ identifier: "PublishedEvents" })

export const StoredEvents = Schema.Struct({
  items: Schema.Array(StoredEventPlace).pipe(
    describe(
      "The place in EVENTS of each event, in the order of the request. `duplicate`: it was stored there by an earlier request."
    )
  )
}).annotate({ identifier: "StoredEvents" })

const { act } = pipelineEndpoints()

export const EventsGroup = guarded(
  "events",
  act("publishEvents", "/events", {
    payload: PublishedEvents,
    success: StoredEvents.pipe(HttpApiSchema.status(201)),
    refused: ["idempotency_conflict"],
    scope: "events:publish",
    summary: "Publish events",
    description:
      "One event, or a list of at most 100. All are stored in EVENTS in their order, or none if any is refused; behind a 503 " +
      "some may be stored, and the same request with the same key stores the others. Each is of a declared type that " +
      "the token owns, and fits its schema; `fields` names every fault by its JSON pointer, in a list with the event's index " +
      "before it. A CloudEvent comes in any of its HTTP forms: `application/cloudevents+json`, " +
      "`application/cloudevents-batch+json`, or its attributes in `ce-` headers. The same `Idempotency-Key`, or for two " +
      "minutes the same `source` and `id` of a CloudEvent, is stored once.",
    example: {
      event: "order.created",
      eventSchemaVersion: "1.0.0",
      occurredAt: "2026-05-01T12:00:00Z",
      details: { id: "A-1" }
    },
    answerExample: { items: [{ sequence: 41, duplicate: false }] }
  })
)
