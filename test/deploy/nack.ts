/** What NACK makes of its objects, on one server. */
import { type ConsumerConfig, type JetStreamManager, type StreamConfig } from "@nats-io/jetstream"
import { parseAllDocuments } from "yaml"

interface StreamSpec {
  readonly name: string
  readonly subjects: Array<string>
  readonly retention: StreamConfig["retention"]
  readonly storage: StreamConfig["storage"]
  readonly discard: StreamConfig["discard"]
  readonly maxAge: string
  readonly duplicateWindow: string
  readonly maxBytes: number
  readonly maxMsgSize: number
  readonly maxMsgsPerSubject: number
  readonly allowDirect: boolean
  readonly allowAtomicPublish: boolean
  readonly allowMsgSchedules: boolean
  readonly allowRollup: boolean
  readonly allowMsgTtl: boolean
  readonly denyDelete: boolean
  readonly republish?: { readonly source: string; readonly destination: string }
}

interface ConsumerSpec {
  readonly streamName: string
  readonly durableName: string
  readonly filterSubjects?: ReadonlyArray<string>
  readonly deliverPolicy: ConsumerConfig["deliver_policy"]
  readonly replayPolicy: ConsumerConfig["replay_policy"]
  readonly ackPolicy: ConsumerConfig["ack_policy"]
  readonly ackWait: string
  readonly maxAckPending: number
  readonly maxDeliver: number
}

type Made =
  | { readonly kind: "Stream"; readonly spec: StreamSpec }
  | { readonly kind: "Consumer"; readonly spec: ConsumerSpec }

/** Each has one replica. */
export const makeAsNack = async (manager: JetStreamManager, manifest: string) => {
  for (const document of parseAllDocuments(manifest)) {
    const made = document.toJS() as Made
    if (made.kind === "Stream") await manager.streams.add(streamOf(made.spec))
    else await manager.consumers.add(made.spec.streamName, consumerOf(made.spec))
  }
}

const streamOf = (spec: StreamSpec) =>
  ({
    name: spec.name,
    subjects: spec.subjects,
    retention: spec.retention,
    storage: spec.storage,
    discard: spec.discard,
    num_replicas: 1,
    max_age: nanosOf(spec.maxAge),
    duplicate_window: nanosOf(spec.duplicateWindow),
    max_bytes: spec.maxBytes,
    max_msg_size: spec.maxMsgSize,
    max_msgs_per_subject: spec.maxMsgsPerSubject,
    allow_direct: spec.allowDirect,
    allow_atomic: spec.allowAtomicPublish,
    allow_msg_schedules: spec.allowMsgSchedules,
    allow_rollup_hdrs: spec.allowRollup,
    allow_msg_ttl: spec.allowMsgTtl,
    deny_delete: spec.denyDelete,
    ...(spec.republish === undefined
      ? {}
      : { republish: { src: spec.republish.source, dest: spec.republish.destination } })
  }) satisfies Partial<StreamConfig>

// A single filter becomes the older field, as its library has it.
const filterOf = ({ filterSubjects = [] }: ConsumerSpec): Partial<ConsumerConfig> => {
  const [only, second] = filterSubjects
  if (only === undefined) return {}
  return second === undefined ? { filter_subject: only } : { filter_subjects: [...filterSubjects] }
}

const consumerOf = (spec: ConsumerSpec): Partial<ConsumerConfig> => ({
  durable_name: spec.durableName,
  ...filterOf(spec),
  deliver_policy: spec.deliverPolicy,
  replay_policy: spec.replayPolicy,
  ack_policy: spec.ackPolicy,
  ack_wait: nanosOf(spec.ackWait),
  max_ack_pending: spec.maxAckPending,
  max_deliver: spec.maxDeliver
})

const nanosOf = (duration: string) => Number(duration.replace(/s$/u, "")) * 1e9
