/**
 * Webhook deliveries as the bus keeps them, for the dispatcher and for everything that shows or changes them: the codec
 * of a due delivery, the fan-out's cursor and members, the states of endpoints, runtime endpoints, and the redrive.
 */
export { answerAskedDeliveries, type Asked, askForDelivery, sendAgain, sendTest } from "./asked.ts"
export { compileContentFilter, firstMismatch } from "./content-filter.ts"
export { eventNames, filterFaults, noSuchEvent } from "./filter-faults.ts"
export { tryFilters } from "./filter-trial.ts"
export {
  type AbandonedDelivery,
  abandonedHeaders,
  attemptBatchCodec,
  deliveryHeader,
  deliveryHeaders,
  deliveryIdFrom,
  dueSubject,
  dueSubjectOf,
  type DueDelivery,
  dueDeliveryCodec,
  isBodyLeftOut,
  readAbandoned
} from "./deliveries.ts"
export { formatted } from "./delivery-format.ts"
export {
  beginCursor,
  FanOutCursor,
  fanOutRecordCodec,
  firstNeeded,
  hasNextEvent,
  join,
  park,
  placed,
  readDeliveryLanes,
  readFanOutCursor
} from "./fan-out-cursor.ts"
export { type Members, readMembers, readRoster, rosterCodec } from "./roster.ts"
export { type Decided, overlapMsDefault, readSettings, isUnencrypted, withoutOldSecrets } from "./endpoints/changes.ts"
export {
  credentialFaults,
  jwtAlgorithm,
  lackingCredentials,
  openCredentials,
  type OwnCredentials
} from "./endpoints/credentials.ts"
export * from "./endpoints/errors.ts"
export { secretSeal, type SecretSeal } from "./endpoints/seal.ts"
export {
  dispatchersBehind,
  type EndpointStore,
  openEndpointStore,
  openPresences,
  presenceMs
} from "./endpoints/store.ts"
export { configuredSeal, type ShownEndpoint, shownSettings, WebhookEndpoints } from "./endpoints/WebhookEndpoints.ts"
export { EndpointStates, type Pause } from "./EndpointStates.ts"
export { orderKey, type OrderKey } from "./order-key.ts"
export { countAbandoned, lastAbandoned, redrive } from "./redrive.ts"
export {
  requestHeaders,
  signBody,
  type Signing,
  type SigningKey,
  standardWebhooksHeaders,
  standardWebhooksKey
} from "./request-headers.ts"
export {
  decodeStoredEvent,
  type ReadEvent,
  readStoredEvent,
  storedEventBody,
  type StoredEvent
} from "./stored-event.ts"
