/** Contracts: what is said between roles and to the outside, as data. Imports nothing but Effect's schemas. */
export {
  type ConfigurationFile,
  decodeConfiguration,
  type EnvironmentKey,
  environmentKeys,
  environmentValue,
  readableConfiguration,
  type WebhookDelivery
} from "./configuration/configuration.ts"
export { AgentKindEntry, type Agents } from "./configuration/agents-section.ts"
export * from "./configuration/gateway-section.ts"
export { entriesOf, inFileOrder, isJson, type Json, unreadable } from "./configuration/readable-parts.ts"
export { itemSettingsOf } from "./configuration/item-settings.ts"
export {
  PaymentNetwork,
  type Payments,
  type PaymentSettler,
  type PaymentVerifier
} from "./configuration/payments-section.ts"
export type { Pipeline, PipelineApi } from "./configuration/pipeline-sections.ts"
export { logLevels, type RoleName, roleNames } from "./configuration/platform-sections.ts"
export { type Redaction, RedactionPattern } from "./configuration/redaction-section.ts"
export type { Sweeper } from "./configuration/sweeper-section.ts"
export { EndpointEntry, endpointsMax } from "./configuration/webhooks-section.ts"
export { contractDocuments } from "./documents/contract-documents.ts"
export { exampleEnvelope } from "./documents/example-envelope.ts"
export { exampleReport } from "./documents/example-report.ts"
export { settingsPage } from "./documents/settings-page.ts"
export { endpointIdOf, partitionOf } from "./endpoint-id.ts"
export * from "./entities.ts"
export {
  type DecodedEnvelope,
  decodeEnvelope,
  entityOf,
  Envelope,
  envelopeSchema,
  EventName,
  faultsOf,
  SchemaVersion
} from "./Envelope.ts"
export { eventCatalogue, findEvent } from "./events/catalogue.ts"
export type { EventDeclaration } from "./events/declaration.ts"
export { catalogueFingerprint, eventSchemaVersion } from "./events/schema-version.ts"
export { compileFilter, unknownFilterNames } from "./filter.ts"
export * from "./gateway/index.ts"
export { Hold, type HoldCause } from "./holds.ts"
export * from "./payments/index.ts"
export * from "./pipeline/index.ts"
export { Count, EpochMs, Fault, Id, isoTime, Ordinal, Timestamp, Uuid } from "./primitives.ts"
export * from "./speech/engine-voice.ts"
export { type Frame, type FrameCodec, frameCodec, frameSamplesMax } from "./speech/frames.ts"
export * from "./speech/marks.ts"
export { findModel, type ModelId, type SpeechModel, speechModels } from "./speech/models.ts"
export * from "./speech/sessions.ts"
export * from "./speech/wire.ts"
export * from "./speech/wire-voices.ts"
export type { ChainsReport, ReadyReport } from "./ready-report.ts"
export { subjects } from "./subjects.ts"
export { decodeToken, encodeToken, tokenCharactersMax } from "./tokens.ts"
export * from "./webhooks.ts"
