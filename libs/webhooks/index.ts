/**
 * Webhook deliveries as the bus keeps them, for the dispatcher and for everyone who shows or changes them: the codec of
 * a due delivery, the fan-out's cursor and roster, the states of endpoints, the endpoints made at run time, and the
 * redrive.
 */
export {
  type AbandonedDelivery,
  abandonedHeaders,
  attemptBatchCodec,
  deliveryHeader,
  deliveryHeaders,
  type DueDelivery,
  dueDeliveryCodec,
  readAbandoned
} from "./deliveries.ts"
export { type Decided, overlapMsDefault, overlapMsMax, readSettings, withoutOldSecrets } from "./endpoints/changes.ts"
export { dispatchersBehind, openPresences, presenceMs } from "./endpoints/dispatchers.ts"
export * from "./endpoints/errors.ts"
export { type SecretSeal, secretSeal } from "./endpoints/secret-seal.ts"
export { type EndpointStore, openEndpointStore } from "./endpoints/store.ts"
export { configuredSeal, type ShownEndpoint, shownSettings, WebhookEndpoints } from "./endpoints/WebhookEndpoints.ts"
export { EndpointStates, type Pause } from "./EndpointStates.ts"
export {
  beginCursor,
  FanOutCursor,
  fanOutRecordCodec,
  firstNeeded,
  hasNextEvent,
  join,
  park
} from "./fan-out-cursor.ts"
export {
  requestHeaders,
  signBody,
  type Signing,
  type SigningKey,
  standardWebhooksHeaders,
  standardWebhooksKey
} from "./request-headers.ts"
export { countAbandoned, deliveryIdFrom, redrive, type RedriveQuery, sendAgain } from "./redrive.ts"
export { sendTest } from "./test-delivery.ts"
export { emptyRoster, readRoster, type Roster, rosterCodec } from "./roster.ts"
