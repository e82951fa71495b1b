/** What all products share: small shapes, subjects, the envelope, and how a route and a setting are declared. Data only. */
export { type AuditAction, auditActions, AuditEntry, AuditRecord, onTheBroker, reasonCharactersMax } from "./audit.ts"
export {
  decodeEnvelope,
  entityOf,
  Envelope,
  envelopeSchema,
  EventName,
  faultsOf,
  SchemaVersion
} from "./events/Envelope.ts"
export {
  catalogueFingerprint,
  compileFilter,
  eventCatalogue,
  type EventFilter,
  eventSchemaVersion,
  findEvent,
  unknownFilterNames
} from "./events/catalogue.ts"
export type { EventDeclaration } from "./events/declaration.ts"
export {
  Finding,
  Hold,
  Holds,
  Project,
  releaseStates,
  UsageTotal,
  WorkItem,
  workItemStates
} from "./events/entities.ts"
export { exampleEnvelope, exampleValue } from "./events/examples.ts"
export {
  cancelReasonCharactersMax,
  QuestionId,
  questionTextCharactersMax,
  ResolutionSha,
  suggestionTitleCharactersMax
} from "./events/work-items.ts"
export { pageQuery, pageSizeDefault, pageSizeMax } from "./http/paging.ts"
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
export { boundedDecoder, type BoundedDecoder, type DecodingFaults, moreFaults, pointedFaults } from "./json/decoding.ts"
export { parseJsonText, weightMaxOf } from "./json/json-text.ts"
export { repeatedKeys } from "./json/repeated-keys.ts"
export { didYouMean, nearNames } from "./near-names.ts"
export { setNewest } from "./newest.ts"
export {
  Count,
  describe,
  documentedAs,
  EpochMs,
  Fault,
  Id,
  isName,
  isoTime,
  Ordinal,
  text,
  Timestamp,
  Usd,
  Uuid,
  WaitMs,
  withoutByteOrderMark
} from "./primitives.ts"
export { faultOfName, printable, printableLine } from "./printable.ts"
export { deliveryLanesMax, deliveryStream, reportsInWorkMax } from "./queues.ts"
export { type ChainsReport, type ReadyReport } from "./ready-report.ts"
export { RefusedEvent, Rejection } from "./rejection.ts"
export { secretFault, type SecretFault, type SecretKind } from "./secrets.ts"
export {
  AllowedOrigins,
  Cidr,
  EnvironmentName,
  FilePath,
  optional,
  OwnOrigins,
  required,
  section,
  sectionRule,
  type SettingSource,
  settingSourceNames,
  type Shown,
  shownAs,
  span,
  WebUrl,
  whole,
  withDefault
} from "./settings/keys.ts"
export {
  Bus,
  Fleet,
  type PlatformSections,
  Redaction,
  RedactionPattern,
  type RoleName,
  roleNames,
  Telemetry
} from "./settings/platform.ts"
export { orderedPartition, publishedName, storedEventName, subjects } from "./subjects.ts"
export { decodeToken, encodeToken, tokenCharactersMax } from "./tokens.ts"
