/** What the public APIs share: listening, answering, refusing, and who may call. */
export { Admission, type AdmissionOptions } from "./Admission.ts"
export { type Answer, type AnswerOptions, bytesAnswer, emptyAnswer, jsonAnswer, withHeaders } from "./answers.ts"
export { Auth, type AuthOptions, authenticated } from "./Auth.ts"
export { Caller, requireScope } from "./Caller.ts"
export type { CorsPolicy } from "./cors.ts"
export * from "./description/index.ts"
export { type DownloadOptions, downloadAnswer } from "./download.ts"
export { formFingerprint, jsonFingerprint } from "./fingerprints.ts"
export { FormFiles, type FormFilesOptions } from "./FormFiles.ts"
export type { Form, FormFile, FormSpec } from "./form-spec.ts"
export { HttpCall, type PerCall, readParams, readQuery } from "./HttpCall.ts"
export { HttpListener, type ListenerOptions } from "./HttpListener.ts"
export { Idempotency, type IdempotencyOptions, type IdempotentRequest } from "./Idempotency.ts"
export { idempotencyKey } from "./idempotency-key.ts"
export { jsonFault, type JsonFault } from "./json-text.ts"
export { listenerLimits, type ListenerLimits } from "./limits.ts"
export { httpMetrics } from "./metrics.ts"
export type { RateDecision } from "./rate-table.ts"
export {
  rateLimitHeaders,
  rateWindow,
  type RateWindow,
  type RateWindowOptions,
  type Refusal,
  takeFrom
} from "./RateWindow.ts"
export {
  type BodyOptions,
  type JsonOptions,
  readBytes,
  readJson,
  readJsonValue,
  requireMediaType
} from "./read-body.ts"
export { addressGroup } from "./request-facts.ts"
export { readBytesWhile, type ReadWhileOptions } from "./read-while.ts"
export { readForm } from "./read-form.ts"
export { crossOrigin, type Method, type Route, route } from "./routes.ts"
export {
  grantsBeyond,
  leastRole,
  type RoleScopes,
  roleScopes,
  type ApiScope,
  apiScopes,
  unknownGrants
} from "./scopes.ts"
export { type EventsOptions, eventsAnswer, jsonEvent, type ServerSentEvent } from "./server-sent-events.ts"
export { type SharedWindow, sharedWindow, type SharedWindowOptions, takeFromShared } from "./shared-window.ts"
export type { SharedDecision, SharedRefused, SharedTaken } from "./rate-log.ts"
export { streamAnswer, type StreamOptions } from "./streaming.ts"
export { hasExpired, type IssuedToken, TokenRecord, type TokenRequest, Tokens } from "./Tokens.ts"
export { TokenUses } from "./TokenUses.ts"
export {
  badRequest,
  concurrencyLimitReached,
  conflict,
  forbidden,
  insufficientScope,
  internalError,
  methodNotAllowed,
  notFound,
  payloadTooLarge,
  rateLimited,
  serviceUnavailable,
  unauthorized,
  unsupportedMediaType,
  validationFailed
} from "./wire-errors.ts"
export { amended, type RenderError, renderStandardError, WireError } from "./WireError.ts"
