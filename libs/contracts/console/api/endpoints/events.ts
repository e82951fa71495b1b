/** Routes of events: those that were published, live too, the catalogue, and examples to try receivers with. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, refusals, writeCodes } from "../error-codes.ts"
import {
  Catalogue,
  CatalogueEvent,
  EventPage,
  EventsQuery,
  ExamplePublished,
  LiveEvent,
  LiveQuery,
  PublishedEvent,
  PublishExample
} from "../events.ts"
import { sequenceParams } from "../parts.ts"

export const EventsGroup = HttpApiGroup.make("events", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listEvents", "/events", {
      disableCodecs: true,
      query: EventsQuery.fields,
      success: EventPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List events",
        description: "Those of the last 35 days. A page may be short, or empty with a cursor, where few match."
      })
    ),
    HttpApiEndpoint.get("streamEvents", "/events/live", {
      disableCodecs: true,
      query: LiveQuery.fields,
      success: HttpApiSchema.StreamSse({ data: LiveEvent }),
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Hear events as they are published",
        description:
          "Server-sent events without end, from now on; each has the event's sequence as its id. Comments keep the connection " +
          "alive. A process serves 64 such streams at once, and answers 503 to more."
      })
    ),
    HttpApiEndpoint.get("listCatalogue", "/events/catalogue", {
      disableCodecs: true,
      success: Catalogue,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({ scope: "console:read", summary: "List the catalogue", description: "Every event, by name." })
    ),
    HttpApiEndpoint.get("getCatalogueEvent", "/events/catalogue/:event", {
      disableCodecs: true,
      params: { event: Schema.String },
      success: CatalogueEvent,
      error: refusals(...readCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at an event of the catalogue",
        description: "With the schema of its envelope, and an example."
      })
    ),
    HttpApiEndpoint.get("getEvent", "/events/:sequence", {
      disableCodecs: true,
      params: sequenceParams,
      success: PublishedEvent,
      error: refusals(...readCodes, "not_found")
    }).annotateMerge(
      described({ scope: "console:read", summary: "Look at an event", description: "With its envelope." })
    ),
    HttpApiEndpoint.post("publishExample", "/events", {
      disableCodecs: true,
      payload: PublishExample,
      success: ExamplePublished,
      error: refusals(...writeCodes)
    }).annotateMerge(
      described({
        scope: "console:write",
        summary: "Publish an example",
        description:
          "The catalogue's example of an event, with fields set otherwise and the time of now, to every endpoint that wants " +
          "it. It is checked first; nothing of the pipeline changes by it.",
        example: { reason: "a look at our receiver", event: "work_item.merged", set: { "workItem.title": "Mend it" } }
      })
    )
  )
  .middleware(BearerToken)
