/** The catalogue of events: the fleet's own, and the types of a deployment's own services; with its routes. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { describe, Fault, Ordinal, pageQuery } from "#base"
import { guarded } from "#base/http"
import { Act } from "#webhooks/contract"
import { act, change, read, Reason } from "./parts.ts"

const reason = Reason.pipe(describe("Why, for the audit log."))
const JsonObject = Schema.Record(Schema.String, Schema.Unknown)
const EventSource = Schema.Literals(["fleet", "configuration", "run-time"])

export const CatalogueEntry = Schema.Struct({
  event: Schema.String.pipe(describe("Its name.")),
  firedWhen: Schema.String.pipe(describe("When it is published; empty when nobody said so.")),
  isProgress: Schema.Boolean.pipe(describe("Delivered only to endpoints whose filter asks for it.")),
  source: EventSource.pipe(
    describe(
      "`fleet`: one of the fleet's own. `configuration`: a type that the configuration file declares. `run-time`: one that is declared and changed here."
    )
  ),
  owners: Schema.Array(Schema.String).pipe(
    describe("Who may publish it: users of the broker, and tokens by their label. Empty for the fleet's own.")
  ),
  schemaVersion: Schema.String.pipe(describe("The version of its schema.")),
  isRetired: Schema.Boolean.pipe(describe("It is refused; its events of before are still delivered.")),
  revision: Schema.NullOr(Ordinal).pipe(describe("A change names it. Null for one that is not changed here."))
}).annotate({ identifier: "CatalogueEntry" })
export interface CatalogueEntry extends Schema.Schema.Type<typeof CatalogueEntry> {}

export const CatalogueEvent = Schema.Struct({
  ...CatalogueEntry.fields,
  schema: JsonObject.pipe(describe("The JSON Schema of its envelope, whole.")),
  example: JsonObject.pipe(describe("An envelope of it.")),
  settings: Schema.NullOr(JsonObject).pipe(
    describe("As it is declared, with the keys of the configuration file. Null for the fleet's own.")
  ),
  faults: Schema.Array(Fault).pipe(describe("Why it cannot be used: its events count as undeclared.")),
  created: Schema.NullOr(Act).pipe(describe("When it was declared at run time, and by whom.")),
  changed: Schema.NullOr(Act).pipe(describe("The last change of it at run time."))
}).annotate({ identifier: "CatalogueEvent" })
export interface CatalogueEvent extends Schema.Schema.Type<typeof CatalogueEvent> {}

export const Catalogue = Schema.Struct({
  schemaVersion: Schema.String.pipe(describe("Of the fleet's own events.")),
  items: Schema.Array(CatalogueEntry).pipe(describe("Events by name.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page, or of a whole list."))
}).annotate({ identifier: "Catalogue" })

export const DeclareEventType = Schema.Struct({
  reason,
  settings: JsonObject.pipe(
    describe(
      "As in `Events.Types` of the configuration file: `Name` and `Owners` at least; `Schema` is the JSON Schema of the details."
    )
  )
}).annotate({ identifier: "DeclareEventType" })
export interface DeclareEventType extends Schema.Schema.Type<typeof DeclareEventType> {}

export const ChangeEventType = Schema.Struct({
  reason,
  revision: Ordinal.pipe(describe("The revision that was seen; another one is a conflict.")),
  settings: JsonObject.pipe(
    describe("The keys to change; null gives a key its default again. `Retired: true` retires the type.")
  )
}).annotate({ identifier: "ChangeEventType" })
export interface ChangeEventType extends Schema.Schema.Type<typeof ChangeEventType> {}

const example = {
  Name: "order.paid",
  Owners: ["internal-services"],
  Description: "an order is paid in full",
  Schema: { type: "object", properties: { orderId: { type: "string" } }, required: ["orderId"] },
  Example: { orderId: "A-1042" }
}

export const CatalogueGroup = guarded(
  "catalogue",
  read("listCatalogue", "/events/catalogue", {
    query: { ...pageQuery, source: Schema.optionalKey(EventSource).pipe(describe("Only those from there.")) },
    success: Catalogue,
    summary: "List the catalogue",
    description:
      "Every event by name: the fleet's own, and the types of your own services. Without `limit` and `cursor`, all of them."
  }),
  read("getCatalogueEvent", "/events/catalogue/:event", {
    success: CatalogueEvent,
    summary: "Look at an event of the catalogue",
    description: "With the schema of its envelope, and an example."
  }),
  act("declareEventType", "/events/catalogue", {
    payload: DeclareEventType,
    success: CatalogueEvent.pipe(HttpApiSchema.status(201)),
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Declare an event type",
    description:
      "Its owners may publish it from the answer on. The same request again declares no second one; a type of that name " +
      "that differs is a conflict.",
    example: { reason: "orders are published now", settings: example }
  }),
  change("changeEventType", "/events/catalogue/:event", {
    payload: ChangeEventType,
    success: CatalogueEvent,
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Change or retire an event type",
    description:
      "It holds for events that are published after the answer; those of before are judged as they were. A schema that " +
      "refuses the example of before needs another `SchemaVersion`.",
    example: { reason: "orders have a currency now", revision: 1, settings: { SchemaVersion: "1.1.0" } }
  })
)
