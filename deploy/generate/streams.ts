/**
 * Every stream of the topology as a resource of NACK, the broker's controller for Kubernetes, and the consumers that
 * belong to them. Buckets and stores are also given as the streams they are: NACK's own kinds for them cannot say that
 * reads go to the leader.
 */
import {
  bucketConfig,
  consumerConfig,
  type ConsumerDeclaration,
  objectStoreConfig,
  readyConsumersOf,
  streamConfig,
  type Topology
} from "#bus"
import { type KubernetesObject, partOfStarling } from "./objects.ts"

/** Production's payment streams: kept by servers that write to disk before they confirm. */
export const moneyStreams: ReadonlyArray<string> = [
  "SETTLEMENTS",
  "RECEIPTS",
  "KV_authorizations",
  "KV_channels",
  "KV_payment-refunds",
  "OBJ_paid-answers"
]

export const moneyCluster = "nats-payments"
const usualCluster = "nats"

/** With three, a stream stays available while one is away. */
export const replicas = 3

type Config = ReturnType<typeof streamConfig>

export const streamResources = (topology: Topology): ReadonlyArray<KubernetesObject> => {
  const streams = [
    ...topology.streams.map((stream) => [streamConfig(stream, replicas), stream.why] as const),
    ...topology.buckets.map((bucket) => [bucketConfig(bucket, replicas), bucket.why] as const),
    ...topology.objectStores.map((store) => [objectStoreConfig(store, replicas), store.why] as const)
  ]
  return [
    ...streams.map(([config, why]) => streamResource(config, why)),
    ...readyConsumersOf(topology).map((consumer) => consumerResource(consumer, topology))
  ]
}

/** A consumer has its stream's replicas and place. */
const consumerResource = (consumer: ConsumerDeclaration, topology: Topology): KubernetesObject => {
  const { stream, durable, filterSubjects } = consumer
  const config = consumerConfig(consumer)
  const all = topology.streams.find(({ name }) => name === stream)?.subjects
  const takesAll = JSON.stringify(all) === JSON.stringify(filterSubjects)
  return {
    apiVersion: "jetstream.nats.io/v1beta2",
    kind: "Consumer",
    metadata: { name: `${nameOf(stream)}-${durable}`, labels: partOfStarling },
    spec: {
      streamName: stream,
      durableName: durable,
      // NACK gives a single filter in a field that a role of an earlier release, after a rollback, cannot change.
      ...(takesAll ? {} : { filterSubjects }),
      deliverPolicy: config.deliver_policy,
      replayPolicy: config.replay_policy,
      ackPolicy: config.ack_policy,
      ackWait: duration(config.ack_wait ?? 0),
      maxAckPending: config.max_ack_pending,
      maxDeliver: config.max_deliver,
      // Removing the resource leaves what was delivered, and how far its reader is.
      preventDelete: true
    }
  }
}

const nameOf = (stream: string) => stream.toLowerCase().replaceAll("_", "-")

const streamResource = (config: Config, why: string): KubernetesObject => ({
  apiVersion: "jetstream.nats.io/v1beta2",
  kind: "Stream",
  metadata: { name: nameOf(config.name), labels: partOfStarling },
  spec: {
    name: config.name,
    description: why,
    subjects: config.subjects ?? [],
    retention: config.retention ?? "limits",
    storage: config.storage ?? "file",
    discard: config.discard ?? "old",
    replicas: config.num_replicas ?? replicas,
    maxAge: duration(config.max_age ?? 0),
    duplicateWindow: duration(duplicateWindow(config.max_age ?? 0)),
    maxBytes: config.max_bytes ?? -1,
    maxMsgSize: config.max_msg_size ?? -1,
    maxMsgsPerSubject: config.max_msgs_per_subject ?? 0,
    allowDirect: config.allow_direct ?? false,
    allowAtomicPublish: config.allow_atomic ?? false,
    allowMsgSchedules: config.allow_msg_schedules ?? false,
    allowRollup: config.allow_rollup_hdrs ?? false,
    allowMsgTtl: config.allow_msg_ttl ?? false,
    denyDelete: config.deny_delete ?? false,
    ...(config.republish === undefined
      ? {}
      : { republish: { source: config.republish.src, destination: config.republish.dest } }),
    placement: { cluster: moneyStreams.includes(config.name) ? moneyCluster : usualCluster },
    // Removing the resource does not remove the stream's content.
    preventDelete: true
  }
})

// NACK's control loop takes an empty age for a year, so no limit is written as `0s`.
const duration = (nanoseconds: number) => `${nanoseconds / 1e9}s`

const minuteNanos = 60e9

/** How long a message id is remembered: the broker's own two minutes, or less where messages live shorter. */
const duplicateWindow = (ageNanos: number) => (ageNanos === 0 ? 2 * minuteNanos : Math.min(ageNanos, 2 * minuteNanos))
