/**
 * The bus: everything a role says to the others goes through here. The only room that knows the broker's
 * client library; nothing of it shows outside.
 */
export {
  applyTopology,
  bucketConfig,
  objectStoreConfig,
  serverVersionMin,
  streamConfig,
  TopologyMismatch
} from "./apply-topology.ts"
export { type BatchMessage, batchMessagesMax } from "./atomic-batch.ts"
export { type BrokerTls, brokerTls } from "./broker-tls.ts"
export { type BrokerUser, brokerUser, partyUsers, serverSyntax } from "./broker-users.ts"
export { busLayer, busServices } from "./bus-layer.ts"
export { type ConsumeOptions, consume, type Consumption, type Received } from "./consume.ts"
export type { ConsumerDeclaration } from "./consumer-declaration.ts"
export { type ConsumerBacklog, Consumers } from "./Consumers.ts"
export {
  type BucketDeclaration,
  type CoreDeclaration,
  type ObjectStoreDeclaration,
  parties,
  type Party,
  type StreamDeclaration,
  type Topology
} from "./declarations.ts"
export * from "./errors.ts"
export { Kv, type KvBucket, type KvEntry } from "./Kv.ts"
export { Leases, type Lease } from "./Leases.ts"
export {
  type EncodedMessage,
  jsonCodec,
  jsonTextDecoder,
  type MessageCodec,
  parseJson,
  type RawMessage
} from "./message-codec.ts"
export { inboxPrefix } from "./inbox.ts"
export { header, type HeaderPairs } from "./message-headers.ts"
export { busMetrics } from "./metrics.ts"
export { Mailbox } from "./Mailbox.ts"
export { Nats } from "./Nats.ts"
export { Neighbours, neighbours } from "./Neighbours.ts"
export { Objects, type StoredObject } from "./Objects.ts"
export { outsideEvents, type Permissions, permissionsOf, userOf } from "./permissions.ts"
export { Publisher, type PublishOptions } from "./Publisher.ts"
export { type Stored } from "./stream-writes.ts"
export { type Refused, Rejections } from "./Rejections.ts"
export { relay, type RelayOptions, type RelayStep, type SourceMessage } from "./relay.ts"
export { relayRecordCodec } from "./relay-record.ts"
export { Requests } from "./Requests.ts"
export { scheduleGridMs, scheduleHeaders } from "./schedule.ts"
export { done, handBack, type Settlement } from "./settlement.ts"
export { StreamReader } from "./StreamReader.ts"
export { envelopeBytesMax, eventsKeptDays, recordBytesMax, reportBytesMax, topology } from "./topology.ts"
export { coreSubjects } from "./topology-core.ts"
export { partOf } from "./topology-part.ts"
export { topologyDocument } from "./topology-document.ts"
