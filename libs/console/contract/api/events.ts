/**
 * Events as operators see them: published ones, including live, and examples to try receivers with; with their routes.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Count, describe, pageQuery, Timestamp } from "#base"
import { NameFilter, newestFirst, Reason, timeQuery, act, read } from "./parts.ts"
import { guarded } from "#base/http"

const head = {
  sequence: Count.pipe(describe("Its number in EVENTS, as commands and paths take it.")),
  event: Schema.String,
  storedAt: Timestamp,
  entity: Schema.NullOr(Schema.String).pipe(describe("The entity that it is about, such as `workItem:<id>`.")),
  projectId: Schema.NullOr(Schema.String),
  bytes: Count
}

export const EventSummary = Schema.Struct(head).annotate({ identifier: "EventSummary" })
export interface EventSummary extends Schema.Schema.Type<typeof EventSummary> {}

export const PublishedEvent = Schema.Struct({
  ...head,
  envelope: Schema.NullOr(Schema.String).pipe(
    describe("As it was published. Null for a caller without the scope `payloads:read`.")
  )
}).annotate({ identifier: "PublishedEvent" })
export interface PublishedEvent extends Schema.Schema.Type<typeof PublishedEvent> {}

/** The same, as the data of a server-sent event. */
export const LiveEvent = Schema.Struct(PublishedEvent.fields)

export const EventPage = Schema.Struct({
  ...newestFirst(EventSummary, "Events"),
  through: Count.pipe(
    describe("The last sequence of EVENTS before the page was read: `/events/live?after=` it misses nothing.")
  )
}).annotate({ identifier: "EventPage" })

const filters = {
  event: Schema.optionalKey(NameFilter).pipe(describe("Only these events; a pattern such as `work_item.*` works.")),
  entity: Schema.optionalKey(NameFilter).pipe(describe("Only events about this entity, such as `workItem:<id>`.")),
  projectId: Schema.optionalKey(NameFilter).pipe(describe("Only events of this project."))
}

/** Earlier ones are available from the list. */
export const liveReplayMax = 10_000

export const LiveQuery = Schema.Struct({
  ...filters,
  after: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,15}$/u))).pipe(
    describe(
      `First those after this sequence, of the last ${liveReplayMax} events: for who was cut off. Without it, from now on.`
    )
  )
})

const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

export const PublishExample = Schema.Struct({
  reason: Reason.pipe(describe("Why, for the audit log.")),
  event: NameFilter.pipe(describe("Its name in the catalogue.")),
  set: Schema.optionalKey(JsonObject).pipe(
    describe("Fields of the example to be other than they are, by their path, as `details.attempt`; 100 at most.")
  ),
  dryRun: Schema.optionalKey(Schema.Boolean).pipe(describe("Only show what would be published."))
}).annotate({ identifier: "PublishExample" })

export const ExamplePublished = Schema.Struct({
  sequence: Schema.NullOr(Count).pipe(describe("Its place in EVENTS; null of a dry run.")),
  envelope: JsonObject
}).annotate({ identifier: "ExamplePublished" })

export const EventsGroup = guarded(
  "events",
  read("listEvents", "/events", {
    query: { ...pageQuery, ...timeQuery, ...filters },
    success: EventPage,
    summary: "List events",
    description: "Those of the last 35 days. A page may be short, or empty with a cursor, where few match."
  }),
  read("streamEvents", "/events/live", {
    query: LiveQuery.fields,
    success: HttpApiSchema.StreamSse({ data: LiveEvent }),
    summary: "Hear events as they are published",
    description:
      "Server-sent events without end, from now on; each has the event's sequence as its id. Comments keep the connection " +
      "alive. A process serves 64 such streams at once, and answers 503 to more."
  }),
  read("getEvent", "/events/:sequence", {
    success: PublishedEvent,
    summary: "Look at an event",
    description: "With its envelope."
  }),
  act("publishExample", "/events", {
    payload: PublishExample,
    success: ExamplePublished,
    scope: "console:write",
    summary: "Publish an example",
    description:
      "The catalogue's example of an event, with fields set otherwise and the time of now, to every endpoint that wants " +
      "it. It is checked first, by the schema of its type too; nothing of the pipeline changes by it.",
    example: { reason: "a look at our receiver", event: "work_item.merged", set: { "workItem.title": "Mend it" } }
  })
)
