/** Webhook endpoints as operators see and change them, with their routes. Secrets go in and never come out. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { guarded } from "#base/http"
import { Count, describe, EpochMs, Fault, Ordinal, pageQuery, pageSizeMax, text, Timestamp, Uuid } from "#base"
import { Act, CertificateFacts, Credentials } from "#webhooks/contract"
import { NameFilter, Reason, act, change, read } from "./parts.ts"

const reason = Reason.pipe(describe("Why, for the audit log."))
const Settings = Schema.Record(Schema.String, Schema.Unknown)
const secret = Schema.optionalKey(text(256)).pipe(
  describe("The key of `X-Service-Signature`: 16 to 256 visible characters.")
)
const standardWebhooksSecret = Schema.optionalKey(text(256)).pipe(
  describe("The key of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64, or 24 to 64 characters.")
)

const credentials = Schema.optionalKey(Credentials)

export const EndpointView = Schema.Struct({
  name: Schema.String,
  id: Schema.String.pipe(describe("As in subjects and keys of the bus; made of the name.")),
  source: Schema.Literals(["configuration", "run-time"]).pipe(
    describe(
      "`configuration`: changed in the configuration file; here it can be paused, resumed and tested. `run-time`: changed here."
    )
  ),
  revision: Schema.NullOr(Ordinal).pipe(describe("A change names it. Null for one of the configuration file.")),
  isEnabled: Schema.Boolean,
  settings: Schema.NullOr(Settings).pipe(
    describe(
      "The keys of the configuration file, without `Headers`, and `Url` without the values of its query. Null when they cannot be read."
    )
  ),
  headerNames: Schema.Array(Schema.String).pipe(describe("The receiver's own headers; their values are not shown.")),
  faults: Schema.Array(Fault).pipe(describe("Why the settings cannot be used.")),
  isSigned: Schema.Boolean,
  hasStandardWebhooks: Schema.Boolean,
  previousSecretUntilMs: Schema.NullOr(EpochMs).pipe(describe("Until when a rotated secret still signs.")),
  credentialNames: Schema.Array(Schema.String).pipe(
    describe("What it uses to reach its receiver beside its signing secrets; their values are not shown.")
  ),
  certificates: Schema.Array(CertificateFacts).pipe(
    describe("The certificates among them. Those of the configuration file's endpoints are with the dispatchers.")
  ),
  startsAfter: Schema.NullOr(Count).pipe(describe("The last event in EVENTS that is not its own.")),
  created: Schema.NullOr(Act),
  changed: Schema.NullOr(Act),
  paused: Schema.NullOr(Schema.Struct({ at: Timestamp, by: Schema.String, reason: Schema.String })),
  breakerOpenUntilMs: Schema.NullOr(EpochMs).pipe(
    describe(
      "Its circuit stays open until then. From then on it is half-open: one delivery probes, and the others in flight wait for its answer. Null while it is closed."
    )
  ),
  backlog: Count.pipe(describe("Deliveries that are due now.")),
  parkedFrom: Schema.NullOr(Count).pipe(
    describe("The first event in EVENTS that waits there for it, for it is paused or its backlog is full.")
  ),
  inFlight: Schema.optionalKey(Schema.NullOr(Count)).pipe(
    describe(
      "Deliveries that dispatchers have in hand. Null where many endpoints share a consumer. Of one endpoint alone."
    )
  ),
  oldestDueAt: Schema.optionalKey(Schema.NullOr(Timestamp)).pipe(
    describe("When the oldest delivery of the backlog was due. Of one endpoint alone.")
  ),
  lastDeliveredAt: Schema.optionalKey(Schema.NullOr(Timestamp)).pipe(
    describe("When the last attempt that delivered began, as far as the delivery log goes back. Of one endpoint alone.")
  )
}).annotate({ identifier: "EndpointView" })
export interface EndpointView extends Schema.Schema.Type<typeof EndpointView> {}

export const EndpointPage = Schema.Struct({
  items: Schema.Array(EndpointView).check(Schema.isMaxLength(pageSizeMax)).pipe(describe("Endpoints by name.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page."))
}).annotate({ identifier: "EndpointPage" })

export const CreateEndpoint = Schema.Struct({
  reason,
  settings: Settings.pipe(
    describe("As in the configuration file, `Name` and `Url` at least, but for the keys that name variables.")
  ),
  secret,
  standardWebhooksSecret,
  credentials
}).annotate({ identifier: "CreateEndpoint" })

export const ChangeEndpoint = Schema.Struct({
  reason,
  revision: Ordinal.pipe(describe("The revision that was seen; another one is a conflict.")),
  settings: Settings.pipe(describe("The keys to change; null gives a key its default again."))
}).annotate({ identifier: "ChangeEndpoint" })

export const OfRevision = Schema.Struct({
  reason,
  revision: Schema.optionalKey(Ordinal).pipe(describe("The revision that was seen; without it, whatever there is."))
}).annotate({ identifier: "OfRevision" })

export const RotateSecrets = Schema.Struct({
  reason,
  revision: Schema.optionalKey(Ordinal),
  secret,
  standardWebhooksSecret,
  credentials: credentials.pipe(describe("Those to replace, at once; null removes one.")),
  overlapSeconds: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 }))).pipe(
    describe("How long the secret before still signs; a day without it.")
  )
}).annotate({ identifier: "RotateSecrets" })

export const TestEndpoint = Schema.Struct({
  reason,
  event: Schema.optionalKey(NameFilter).pipe(describe("An event of the catalogue (`work_item.merged`)."))
}).annotate({ identifier: "TestEndpoint" })

export const TryFilter = Schema.Struct({
  settings: Settings.pipe(describe("`EventFilter` and `ContentFilter`, as an endpoint has them."))
}).annotate({ identifier: "TryFilter" })

export const fittingShownMax = 5
export const othersShownMax = 10

const tried = {
  sequence: Count,
  event: Schema.String,
  storedAt: Timestamp,
  entity: Schema.NullOr(Schema.String)
}

export interface TriedEvent extends Schema.Struct.Type<typeof tried> {}

export const FilterTrial = Schema.Struct({
  examined: Count.pipe(describe("Events that were looked at: the last hundred, or all there are.")),
  fitting: Count.pipe(describe("How many of them an endpoint would get.")),
  shown: Schema.Array(Schema.Struct(tried))
    .check(Schema.isMaxLength(fittingShownMax))
    .pipe(describe("The newest that fit.")),
  others: Schema.Array(
    Schema.Struct({
      ...tried,
      path: Schema.String.pipe(describe("The first field that does not fit, as a JSON pointer into the envelope.")),
      found: Schema.NullOr(Schema.String).pipe(describe("What is there, as JSON, cut; null for nothing."))
    })
  )
    .check(Schema.isMaxLength(othersShownMax))
    .pipe(describe("The newest that do not; first those whose name fits."))
}).annotate({ identifier: "FilterTrial" })

export const SentTest = Schema.Struct({
  deliveryId: Uuid.pipe(describe("As the receiver sees it in `X-Service-Delivery`, beside `X-Service-Test: true`."))
}).annotate({ identifier: "SentTest" })

export const Resealed = Schema.Struct({
  resealed: Count.pipe(describe("How many were sealed anew; the others were already.")),
  unreadable: Schema.Array(Schema.String).pipe(describe("The names of those that none of the keys opens."))
}).annotate({ identifier: "Resealed" })

const example = { reason: "its receiver moves" }

export const EndpointsGroup = guarded(
  "endpoints",
  read("listEndpoints", "/endpoints", {
    query: pageQuery,
    success: EndpointPage,
    summary: "List webhook endpoints",
    description: "Those of the configuration file and those made at run time, by name, with their state."
  }),
  read("getEndpoint", "/endpoints/:name", {
    success: EndpointView,
    summary: "Look at a webhook endpoint",
    description:
      "Its settings and its state, with what is in flight and when it last took something. No secret is shown."
  }),
  act("createEndpoint", "/endpoints", {
    payload: CreateEndpoint,
    success: EndpointView.pipe(HttpApiSchema.status(201)),
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Make a webhook endpoint",
    description:
      "It gets every event after `startsAfter` of the answer. The same request again makes no second one; an endpoint " +
      "of that name that differs is a conflict.",
    example: { reason: "a new receiver", settings: { Name: "ci", Url: "https://ci.example/hooks" } }
  }),
  change("changeEndpoint", "/endpoints/:name", {
    payload: ChangeEndpoint,
    success: EndpointView,
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Change a webhook endpoint",
    description: "Every dispatcher goes on with it within a second; deliveries that wait, retries and breaker stay.",
    example: { ...example, revision: 1, settings: { Url: "https://new.example/hooks" } }
  }),
  act("rotateEndpoint", "/endpoints/:name/rotate", {
    payload: RotateSecrets,
    success: EndpointView,
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Rotate an endpoint's secrets",
    description:
      "The secret before signs beside the new one for the overlap, and is gone afterwards. Credentials are replaced at " +
      "once, for connections made from then on.",
    example: { ...example, secret: "a-new-secret-of-the-receiver", overlapSeconds: 3_600 }
  }),
  act("resealEndpoints", "/endpoints/reseal", {
    success: Resealed,
    scope: "console:operate",
    summary: "Seal all endpoints' secrets anew",
    description:
      "With the key of `WebhookDelivery.SecretsKeyEnvVar`, where the bus has them by the previous key, or by none.",
    example: { reason: "a new key" }
  }),
  act("removeEndpoint", "/endpoints/:name/remove", {
    payload: OfRevision,
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Remove a webhook endpoint",
    description: "Nothing is sent to it after the answer. What waits for it goes to the abandoned deliveries.",
    example
  }),
  act("enableEndpoint", "/endpoints/:name/enable", {
    payload: OfRevision,
    success: EndpointView,
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Enable a webhook endpoint",
    description: "It gets what it missed while it was disabled, up to `ParkedMaxDays`.",
    example
  }),
  act("disableEndpoint", "/endpoints/:name/disable", {
    payload: OfRevision,
    success: EndpointView,
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Disable a webhook endpoint",
    description: "Nothing is sent to it after the answer; its events are kept.",
    example
  }),
  act("pauseEndpoint", "/endpoints/:name/pause", {
    success: EndpointView,
    scope: "console:operate",
    summary: "Pause a webhook endpoint",
    description: "Also one of the configuration file. It keeps its backlog and misses nothing.",
    example
  }),
  act("resumeEndpoint", "/endpoints/:name/resume", {
    success: EndpointView,
    scope: "console:operate",
    summary: "Resume a webhook endpoint",
    description: "Goes on with it, and closes its breaker.",
    example
  }),
  act("tryFilter", "/endpoints/try-filter", {
    payload: TryFilter,
    success: FilterTrial,
    scope: "console:read",
    summary: "Try the filters of an endpoint",
    description:
      "How many of the last hundred events an endpoint with these filters would have got, and why the others not. It " +
      "changes nothing. A filter on content also takes the scope `payloads:read`.",
    example: { settings: { EventFilter: ["work_item.*"], ContentFilter: { project: { id: ["orchard"] } } } }
  }),
  act("testEndpoint", "/endpoints/:name/test", {
    payload: TestEndpoint,
    success: SentTest,
    scope: "console:operate",
    summary: "Send a test to a webhook endpoint",
    description:
      "One delivery to this endpoint alone, of the catalogue's example, with the header `X-Service-Test: true`. It is " +
      "tried once. A paused endpoint gets it when it is resumed.",
    example: { ...example, event: "work_item.merged" }
  })
)
