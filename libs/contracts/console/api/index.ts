/** The operators' API as a declaration, and its client. `#contracts` has what is kept. */
export type { AbandonedSummary, AbandonedWhole } from "./abandoned.ts"
export { resendCountMax } from "./abandoned.ts"
export { consoleClient } from "./client.ts"
export { ConsoleHttpApi } from "./ConsoleHttpApi.ts"
export type { DeliveryAttempt, DeliveryLine, DeliveryWhole } from "./deliveries.ts"
export { resendDeliveriesMax } from "./deliveries.ts"
export { AbandonedGroup } from "./endpoints/abandoned.ts"
export type {
  ChangeEndpoint,
  CreateEndpoint,
  EndpointView,
  OfRevision,
  RotateSecrets,
  TestEndpoint
} from "./endpoints.ts"
export { AuditGroup } from "./endpoints/audit.ts"
export { DeliveriesGroup } from "./endpoints/deliveries.ts"
export { EndpointsGroup } from "./endpoints/endpoints.ts"
export { EventsGroup } from "./endpoints/events.ts"
export { BooksGroup, ClaimsGroup, ReceiptsGroup } from "./endpoints/money.ts"
export { RejectedGroup } from "./endpoints/rejected.ts"
export { consoleErrorCodes } from "./error-codes.ts"
export { LiveEvent, liveReplayMax } from "./events.ts"
export type { EventSummary, PublishedEvent } from "./events.ts"
export type {
  Books,
  BookView,
  ClaimSummary,
  ClaimWhole,
  FindingSummary,
  FindingWhole,
  ReceiptSum,
  ReceiptSums,
  ReceiptView,
  ReceiptWhole,
  SumsBy
} from "./money.ts"
export { csvLinesMax, csvReadMax, sumsReadMax } from "./money.ts"
export type { RejectedMessage, RejectedSummary } from "./rejected.ts"
export { endpointsShownMax, type FleetFrame, FleetGroup } from "./fleet.ts"
export { type PassedOnApi, passedOnApis, type Session, SessionGroup } from "./session.ts"
export { SettingsGroup } from "./settings.ts"
export type { BrokerStream, StreamConsumer } from "./streams.ts"
export { consumersShownMax, StreamsGroup } from "./streams.ts"
export { TokensGroup, type TokenView } from "./tokens.ts"
export { SpeechGroup } from "./speech.ts"
export { TrialsGroup } from "./trials.ts"
