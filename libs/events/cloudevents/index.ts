/** CloudEvents 1.0: read from messages of HTTP and NATS into envelopes, and made of envelopes for receivers. */
export { cloudEventFaults } from "./attributes.ts"
export {
  type CloudEventEnvelope,
  type CloudEventMessage,
  type CloudEventMode,
  cloudEventMode,
  cloudEventsMax,
  isCloudEvent,
  readCloudEvent,
  readCloudEvents,
  type ReadOptions
} from "./read.ts"
export { binaryCloudEvent, type EventToSend, type SentCloudEvent, structuredCloudEvent } from "./write.ts"
