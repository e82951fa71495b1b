/**
 * Webhook deliveries as the bus keeps them, for the dispatcher and for everyone who shows or changes them: the codec of
 * a due delivery, the fan-out's cursor and roster, the states of endpoints, the endpoints made at run time, and the
 * redrive.
 */
export { answerAskedDeliveries, type Asked, askForDelivery, sendAgain, sendTest } from "./asked.ts"
export {
  type AbandonedDelivery,
  abandonedHeaders,
  attemptBatchCodec,
  beginCursor,
  deliveryHeader,
  deliveryHeaders,
  deliveryIdFrom,
  dueSubject,
  type DeliveryLaneCounts,
  type DueDelivery,
  dueDeliveryCodec,
  emptyRoster,
  FanOutCursor,
  fanOutRecordCodec,
  firstNeeded,
  hasNextEvent,
  isBodyLeftOut,
  join,
  park,
  placed,
  readAbandoned,
  readDeliveryLanes,
  readFanOutCursor,
  readRoster,
  type Roster,
  rosterCodec
} from "./deliveries.ts"
export { type Decided, overlapMsDefault, readSettings, withoutOldSecrets } from "./endpoints/changes.ts"
export {
  dispatchersBehind,
  type EndpointStore,
  openEndpointStore,
  openPresences,
  presenceMs,
  secretSeal,
  type SecretSeal
} from "./endpoints/store.ts"
export * from "./endpoints/store.ts"
export { configuredSeal, type ShownEndpoint, shownSettings, WebhookEndpoints } from "./endpoints/WebhookEndpoints.ts"
export { EndpointStates, type Pause } from "./EndpointStates.ts"
export { countAbandoned, lastAbandoned, redrive } from "./redrive.ts"
export {
  requestHeaders,
  signBody,
  type Signing,
  type SigningKey,
  standardWebhooksHeaders,
  standardWebhooksKey
} from "./request-headers.ts"
export { type ReadEvent, readStoredEvent, type StoredEvent } from "./stored-event.ts"
