/**
 * The bus carries every message between roles. Only this module knows the broker's client library; nothing of the
 * library is visible outside.
 */
export { type BrokerTls, brokerTls, inboxPrefix } from "./connection/dial.ts"
export { Nats } from "./connection/connection.ts"
export { type Stored } from "./connection/stream-calls.ts"
export { ack, type AckDecision, consume, type Consumption, drainAll, nak, type Received } from "./consume.ts"
export { type Refused, Rejections } from "./rejections.ts"
export { consumerConfig, type ConsumerDeclaration, type ConsumerFigures, Consumers } from "./consumers.ts"
export * from "./errors.ts"
export { Kv, type KvBucket, type KvChange, type KvEntry } from "./kv/bucket.ts"
export {
  type Change,
  deleted,
  kept,
  type Records,
  records,
  replaced,
  revisionOf,
  type DecisionContext
} from "./kv/record.ts"
export { busLayer, busMetrics, busServices } from "./layer.ts"
export { Leases } from "./leases.ts"
export { LocalTransport, localTransport, Mailbox } from "./mailbox.ts"
export { header, type HeaderPairs, jsonCodec, jsonTextDecoder, type MessageCodec, type RawMessage } from "./message.ts"
export { Objects } from "./objects.ts"
export { type SourceMessage } from "./pages.ts"
export { type BatchMessage, Publisher, scheduleHeaders } from "./publish.ts"
export { isSmall, type RefusedMessage, relayPlace, relayRecordCodec, type RelayStep } from "./relay/cursor.ts"
export { relay, runMessagesMax } from "./relay/relay.ts"
export { Requests } from "./request.ts"
export { type StreamFigures, StreamReader } from "./stream-reader.ts"
export {
  applyTopology,
  streamDifferences,
  topologyDifferences,
  bucketConfig,
  configsOf,
  objectStoreConfig,
  reservedBytes,
  streamConfig
} from "./topology/apply.ts"
export { acceptLosses, keepTopology, lostAtKey } from "./topology/keeper.ts"
export { accountOf, brokerAccounts, fleetAccount } from "./topology/accounts.ts"
export { besideStreams, outsiders, parties, type Party, type Topology, userOf } from "./topology/declarations.ts"
export {
  coreSubjects,
  partOf,
  readyConsumer,
  readyConsumersOf,
  streamOf,
  topology,
  topologyDocument,
  topologyOf
} from "./topology/topology.ts"
export {
  type BrokerUser,
  brokerUser,
  mayComeFromOutside,
  outsideEvents,
  partyUsers,
  type Permissions,
  permissionsOf,
  serverSyntax
} from "./topology/permissions.ts"
export { envelopeBytesMax, eventsKeptDays, recordBytesMax, reportBytesMax } from "./topology/streams.ts"
