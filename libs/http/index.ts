/** The common parts of the public APIs: listening, answering, refusing, and authentication. */
export { Admission } from "./Admission.ts"
export {
  type Answer,
  type AnswerOptions,
  bytesAnswer,
  dialectAnswer,
  downloadAnswer,
  emptyAnswer,
  type JsonAnswer,
  jsonAnswer,
  lastingAnswer,
  type RefusalAnswer,
  streamAnswer,
  withHeaders,
  writtenJsonAnswer
} from "./answers.ts"
export { auditCodec, brokenTarget, madeTarget, revokedTarget, writeAudit } from "./audit.ts"
export { Auth, authenticated, Caller } from "./auth/Auth.ts"
export {
  grantsBeyond,
  grantsNotHeld,
  hasExpired,
  type IssuedToken,
  leastRole,
  type OrderFault,
  roleScopes,
  type TokenOrder,
  TokenRecord,
  type TokenRequest,
  tokenRequest,
  tokenKey,
  Tokens,
  TooManyTokens,
  unknownGrants
} from "./auth/Tokens.ts"
export { TokenUses } from "./auth/TokenUses.ts"
export { BodyRoom } from "./bodies/BodyRoom.ts"
export {
  type BodyLimits,
  decodeMessage,
  jsonDecoder,
  messageJson,
  readBytes,
  readBytesWhile,
  readJson,
  readJsonValue,
  requireMediaType
} from "./bodies/read-body.ts"
export {
  answerHeader,
  type ApiParts,
  endpointsOf,
  idempotencyKeyHeader,
  type JsonObject,
  replayed,
  requestHeader,
  requestIdHeader,
  requestIdOfAnswer,
  retryAfter,
  templateOf
} from "./description/document.ts"
export { apiDocuments } from "./description/documents.ts"
export { fieldTable, type LongList, table } from "./description/page.ts"
export { descriptionRoutes } from "./description/routes.ts"
export type { Form, FormFile, FormSpec } from "./forms/multipart-reader.ts"
export { FormFiles } from "./forms/FormFiles.ts"
export { readForm } from "./forms/read-form.ts"
export { addressGroup, callHeaders, HttpCall } from "./HttpCall.ts"
export { Idempotency, type IdempotencyOptions } from "./idempotency/Idempotency.ts"
export { formFingerprint, idempotencyKey, jsonFingerprint } from "./idempotency/record.ts"
export type { CorsPolicy } from "./listener/cors.ts"
export { HttpListener, type ListenerOptions } from "./listener/HttpListener.ts"
export {
  below,
  crossOrigin,
  type EndpointRequest,
  type Method,
  type Route,
  route,
  routesOf
} from "./listener/routes.ts"
export { acceptWebSocket, type WebSocket, WebSocketClosed } from "./listener/WebSocket.ts"
export { httpMetrics } from "./metrics.ts"
export {
  rateLimitHeaders,
  type RateRefused,
  type RateTaken,
  type RateWindow,
  rateWindow
} from "./rate-limit/RateWindow.ts"
export { type SettledLimit, settledLimit, takeOrRefuse } from "./rate-limit/settled-limit.ts"
export { sharedWindow, type SharedWindowOptions } from "./rate-limit/shared-window.ts"
export { type RelayedCall, relayedAnswer, relayedCall, urlBelow } from "./relay.ts"
export { eventsAnswer, jsonEvent, type ServerSentEvent } from "./server-sent-events.ts"
export {
  amended,
  badRequest,
  conflict,
  forbidden,
  insufficientScope,
  internalError,
  notFound,
  rateLimited,
  type ErrorHeaders,
  type RenderError,
  renderStandardError,
  serviceUnavailable,
  unauthorized,
  validationFailed,
  WireError
} from "./WireError.ts"
