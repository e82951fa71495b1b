/**
 * The operators' complete API: every route with its shapes, scope and refusals. Server, documents and clients follow
 * it. Also the typed client, and the single route of the audit log.
 */
import { Context, Effect, Schema } from "effect"
import { HttpApi, HttpApiClient, OpenApi } from "effect/http-api"
import { clientToken, DescriptionGroup, guarded } from "#base/http"
import { auditActions, AuditEntry, describe, ErrorEnvelope, pageQuery } from "#base"
import { AbandonedGroup } from "./abandoned.ts"
import { BooksGroup } from "./books.ts"
import { CatalogueGroup } from "./catalogue.ts"
import { ConditionsGroup } from "./conditions.ts"
import { DeliveriesGroup } from "./deliveries.ts"
import { EndpointsGroup } from "./endpoints.ts"
import { EventsGroup } from "./events.ts"
import { FindGroup } from "./find.ts"
import { FleetGroup, SettingsGroup, SpeechGroup, StreamsGroup } from "./fleet.ts"
import { ClaimsGroup, ReceiptsGroup, TrialsGroup } from "./money.ts"
import { HistoryGroup } from "./history.ts"
import { ModelsGroup } from "./models.ts"
import { RejectedGroup } from "./rejected.ts"
import { SessionGroup } from "./session.ts"
import { TimelineGroup } from "./timeline.ts"
import { TokensGroup } from "./tokens.ts"
import { newestFirstPage, read } from "./parts.ts"

const AuditPage = newestFirstPage("AuditPage", AuditEntry, "Acts of operators")

export const AuditGroup = guarded(
  "audit",
  read("listAudit", "/audit", {
    query: {
      ...pageQuery,
      action: Schema.optionalKey(Schema.Literals(auditActions)).pipe(describe("Only these acts."))
    },
    success: AuditPage,
    summary: "List what operators did",
    description:
      "Who did what through this API, and why. An act is written down before it is done; one that then failed stands here too."
  })
)

export const ConsoleHttpApi = HttpApi.make("console")
  .add(EventsGroup, CatalogueGroup, EndpointsGroup, DeliveriesGroup, AbandonedGroup, RejectedGroup, AuditGroup)
  .add(FindGroup, ConditionsGroup, FleetGroup, HistoryGroup, TimelineGroup, StreamsGroup, TokensGroup, SettingsGroup)
  .add(ReceiptsGroup, ClaimsGroup, BooksGroup)
  .add(ModelsGroup, SpeechGroup, SessionGroup, TrialsGroup)
  .add(DescriptionGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Starling console",
      version: "1.0.0",
      description: "The operators' API: what was sent, what was given up, what was refused, and what to do about it.",
      servers: [{ url: "/" }]
    })
  )
  .annotateMerge(Context.make(HttpApi.AdditionalSchemas, [ErrorEnvelope]))

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** A typed client of the API. A refusal fails with its envelope. Needs an `HttpClient`. */
export const consoleClient = ({ url, token }: ClientOptions) =>
  Effect.provide(HttpApiClient.make(ConsoleHttpApi, { baseUrl: url }), clientToken(token))

export { AbandonedGroup, type AbandonedSummary, type AbandonedDetails, resendCountMax } from "./abandoned.ts"
export { type Books, BooksGroup, type BookView, type FindingSummary, type FindingWhole } from "./books.ts"
export {
  type CatalogueEntry,
  type CatalogueEvent,
  CatalogueGroup,
  type ChangeEventType,
  type DeclareEventType
} from "./catalogue.ts"
export { type Conditions, ConditionsGroup, conditionsShownMax, type StandingCondition } from "./conditions.ts"
export {
  DeliveriesGroup,
  type DeliveryAttempt,
  type DeliveryLine,
  type DeliveryWhole,
  resendDeliveriesMax
} from "./deliveries.ts"
export {
  type ChangeEndpoint,
  type CreateEndpoint,
  EndpointsGroup,
  type EndpointView,
  fittingShownMax,
  type OfRevision,
  othersShownMax,
  type RotateSecrets,
  type TestEndpoint,
  type TriedEvent,
  type TryFilter
} from "./endpoints.ts"
export { consoleErrorCodes } from "./parts.ts"
export { EventsGroup, type EventSummary, LiveEvent, liveReplayMax, type PublishedEvent } from "./events.ts"
export { FindGroup, type Trace, type TraceKind, type TraceLine, traceLinesMax } from "./find.ts"
export {
  type BrokerStream,
  consumersShownMax,
  endpointsShownMax,
  type FleetFrame,
  FleetGroup,
  SettingsGroup,
  SpeechGroup,
  type StreamConsumer,
  StreamsGroup
} from "./fleet.ts"
export {
  ClaimsGroup,
  type ClaimSummary,
  type ClaimWhole,
  csvLinesMax,
  csvReadMax,
  ReceiptsGroup,
  type ReceiptSum,
  type ReceiptSums,
  type ReceiptView,
  type ReceiptWhole,
  type RefundView,
  type SumsBy,
  sumsReadMax,
  TrialsGroup
} from "./money.ts"
export {
  type History,
  HistoryGroup,
  type HistoryPoint,
  type HistoryRange,
  historyRanges,
  type ThingKind,
  thingKinds,
  thingsKeptMax,
  thingsShownMax
} from "./history.ts"
export { type CallHistory, ModelsGroup, type ModelView } from "./models.ts"
export { RejectedGroup, type RejectedMessage, type RejectedSummary } from "./rejected.ts"
export { type ProxiedApi, proxiedApis, type Session, SessionGroup } from "./session.ts"
export { Happening, happeningKinds, happeningsMax, TimelineGroup } from "./timeline.ts"
export { TokensGroup, type TokenView } from "./tokens.ts"
