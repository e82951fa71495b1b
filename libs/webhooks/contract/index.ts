/** The messages, records and settings of webhooks, and how receivers verify them, as data. */
export {
  type FilterAffix,
  type FilterAlternative,
  type FilterComparison,
  ContentFilter,
  type FilterRange,
  type FilterScalar
} from "./content-filter.ts"
export {
  Abandonment,
  AskedDelivery,
  AskedDeliveryAnswer,
  Attempt,
  AttemptBatch,
  type AttemptOutcome,
  attemptOutcomes,
  Delivery,
  type DeliveryFormat,
  deliveryLaneOf,
  deliveryPartitionOf,
  deliveryPartitions,
  endpointIdOf,
  EndpointState,
  KeyGap,
  partitionOf
} from "./deliveries.ts"
export { CertificateFacts, Credentials } from "./credentials.ts"
export {
  Act,
  decodeEndpointFilters,
  decodeEndpointSettings,
  DispatcherPresence,
  EndpointRecord,
  EndpointSettings,
  KeptSecret
} from "./endpoints.ts"
export { EndpointEntry, repeatedEndpoints, WebhookDelivery, Webhooks } from "./settings.ts"
