/**
 * Webhook deliveries as the bus keeps them, for the dispatcher and for everyone who shows or changes them: the codec of
 * a due delivery, the fan-out's cursor and roster, the states of endpoints, the endpoints made at run time, and the
 * redrive.
 */
export {
  type AbandonedDelivery,
  abandonedHeaders,
  answerAskedDeliveries,
  askForDelivery,
  attemptBatchCodec,
  beginCursor,
  countAbandoned,
  lastAbandoned,
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
  join,
  park,
  placed,
  readAbandoned,
  readDeliveryLanes,
  readFanOutCursor,
  readRoster,
  redrive,
  type Roster,
  rosterCodec,
  sendAgain,
  sendTest
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
export {
  requestHeaders,
  signBody,
  type Signing,
  type SigningKey,
  standardWebhooksHeaders,
  standardWebhooksKey
} from "./request-headers.ts"
