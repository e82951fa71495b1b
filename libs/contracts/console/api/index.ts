/** The operators' API as a declaration, and its client. `#contracts` has what is kept. */
export { AbandonedGroup, type AbandonedSummary, type AbandonedWhole, resendCountMax } from "./abandoned.ts"
export { AuditGroup } from "./audit.ts"
export { type Books, BooksGroup, type BookView, type FindingSummary, type FindingWhole } from "./books.ts"
export { consoleClient, ConsoleHttpApi } from "./ConsoleHttpApi.ts"
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
  type OfRevision,
  type RotateSecrets,
  type TestEndpoint
} from "./endpoints.ts"
export { consoleErrorCodes } from "./error-codes.ts"
export { EventsGroup, type EventSummary, LiveEvent, liveReplayMax, type PublishedEvent } from "./events.ts"
export { endpointsShownMax, type FleetFrame, FleetGroup } from "./fleet.ts"
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
  type SumsBy,
  sumsReadMax
} from "./money.ts"
export { type CallHistory, ModelsGroup, type ModelView } from "./models.ts"
export { RejectedGroup, type RejectedMessage, type RejectedSummary } from "./rejected.ts"
export { type PassedOnApi, passedOnApis, type Session, SessionGroup } from "./session.ts"
export { SettingsGroup } from "./settings.ts"
export { SpeechGroup } from "./speech.ts"
export { type BrokerStream, consumersShownMax, type StreamConsumer, StreamsGroup } from "./streams.ts"
export { TokensGroup, type TokenView } from "./tokens.ts"
export { TrialsGroup } from "./trials.ts"
