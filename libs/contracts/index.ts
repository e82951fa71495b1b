/** Contracts: the messages between roles and to the outside, as data. Imports nothing but Effect's schemas. */
export { AgentKindEntry, type Agents } from "./configuration/agents.ts"
export {
  type ConfigurationFile,
  decodeConfiguration,
  environmentKeys,
  environmentValue,
  readableConfiguration,
  repeatedInVariables,
  repeatedSettings,
  removedIn,
  removedKeys,
  type WebhookDelivery
} from "./configuration/configuration.ts"
export { effectiveSettings, type SettingSources, settingSources } from "./configuration/effective-settings.ts"
export * from "./configuration/gateway.ts"
export { settingSourceNames } from "./configuration/keys.ts"
export {
  type PaymentChannels,
  PaymentNetwork,
  type PaymentRefunds,
  type Payments,
  PaymentSigner,
  type PaymentSettler,
  type PaymentVerifier
} from "./configuration/payments.ts"
export { itemSettingsOf, type Pipeline, type PipelineApi, type Sweeper } from "./configuration/pipeline.ts"
export {
  type PlatformSections,
  type Redaction,
  RedactionPattern,
  type RoleName,
  roleNames
} from "./configuration/platform.ts"
export { entriesOf, inFileOrder, isJson, type Json, unreadable } from "./configuration/readable-parts.ts"
export type { VoiceCloning } from "./configuration/speech.ts"
export type { VoiceModel, VoiceProcess, Voices } from "./configuration/voices.ts"
export { EndpointEntry } from "./configuration/webhooks.ts"
export {
  type AuditAction,
  auditActions,
  AuditEntry,
  AuditRecord,
  onTheBroker,
  reasonCharactersMax
} from "./console/audit.ts"
export { contractDocuments, wholeEventSchema } from "./documents/async-api.ts"
export { type BoundedDecoder, boundedDecoder, type DecodingFaults, moreFaults, pointedFaults } from "./json/decoding.ts"
export { jsonFault, type JsonLimits, parseJsonText, weightMaxOf } from "./json/json-text.ts"
export { exampleEnvelope } from "./events/examples.ts"
export { settingsPage } from "./documents/settings-page.ts"
export {
  catalogueFingerprint,
  compileFilter,
  eventCatalogue,
  eventSchemaVersion,
  findEvent,
  unknownFilterNames
} from "./events/catalogue.ts"
export type { EventDeclaration } from "./events/entities.ts"
export * from "./events/entities.ts"
export {
  decodeEnvelope,
  entityOf,
  Envelope,
  envelopeSchema,
  EventName,
  faultsOf,
  SchemaVersion
} from "./events/Envelope.ts"
export * from "./gateway/requests.ts"
export {
  type CallOutcome,
  callOutcomes,
  type CallWindow,
  type Cell,
  lastDay,
  lastMonth,
  ModelUptime,
  modelUptimeKeptMs,
  modelUptimeKey,
  type OutcomeCounts,
  quarterOf,
  type UptimeBatch,
  uptimeOf,
  withBatch
} from "./gateway/uptime.ts"
export {
  type ApiScope,
  apiScopes,
  commonErrorCodes,
  type ErrorCode,
  ErrorEnvelope,
  type Permission,
  tokenLifetimeMsDefault,
  tokenLimits,
  workspaceScopes
} from "./http/refusals.ts"
export {
  chainFamilies,
  type ChainFamily,
  chainFamilyOf,
  coinDecimalsOf,
  hasFeePayer,
  inOneCase,
  isSameAddress,
  knownTokenOf,
  knownTokens,
  paymentSchemes,
  type PaymentSchemeName
} from "./payments/chains.ts"
export * from "./payments/books.ts"
export * from "./payments/channels.ts"
export {
  addressKeyOf,
  addressToken,
  AtomicAmount,
  ChainAddress,
  ClaimKey,
  claimKeyOf,
  DecimalWord,
  EvmAddress,
  InstanceName,
  Network,
  payerKeyOf,
  Sha256Hex,
  TransactionId
} from "./payments/primitives.ts"
export * from "./payments/messages.ts"
export * from "./payments/refunds.ts"
export * from "./payments/x402.ts"
export * from "./pipeline/agent.ts"
export { pageSizeDefault, pageSizeMax } from "./http/paging.ts"
export * from "./pipeline/commands.ts"
export * from "./pipeline/pickup.ts"
export * from "./pipeline/project.ts"
export * from "./pipeline/agent.ts"
export * from "./pipeline/release.ts"
export * from "./pipeline/reports.ts"
export * from "./pipeline/work-item/commands.ts"
export * from "./pipeline/work-item/facts.ts"
export * from "./pipeline/work-item/reports.ts"
export * from "./pipeline/work-item/state.ts"
export { faultOfName, printable, printableLine } from "./printable.ts"
export { repeatedKeys } from "./json/repeated-keys.ts"
export {
  Count,
  EpochMs,
  Fault,
  Id,
  isoTime,
  Ordinal,
  Timestamp,
  Uuid,
  waitMsMax,
  withoutByteOrderMark
} from "./primitives.ts"
export * from "./queues.ts"
export * from "./rejection.ts"
export type { ChainsReport, ReadyReport } from "./ready-report.ts"
export { type SecretFault, secretFault, type SecretKind } from "./secrets.ts"
export * from "./speech/engine-voice.ts"
export { type EngineState, type FigureVoice, SpeechFigures, SynthesizerEngines } from "./speech/figures.ts"
export { type OutputFormat, outputFormats, streamedFormats, streamedMediaTypes } from "./speech/formats.ts"
export * from "./speech/marks.ts"
export { findModel, type ModelId, type SpeechModel, speechModels } from "./speech/models.ts"
export * from "./speech/sessions.ts"
export { storedEventName, subjects } from "./subjects.ts"
export { decodeToken, encodeToken, tokenCharactersMax } from "./tokens.ts"
export * from "./webhook-endpoints.ts"
export * from "./webhooks.ts"
