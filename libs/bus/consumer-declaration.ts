/**
 * A durable pull consumer as data. Acks are explicit, deliveries have no count limit (whoever consumes
 * counts attempts in the message, where a crash cannot lose them), and the broker never sends more than
 * `unackedMax` at a time, over all replicas of the role.
 */
import { AckPolicy, type ConsumerConfig, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream"
import { nanos } from "@nats-io/nats-core"

export interface ConsumerDeclaration {
  readonly stream: string
  readonly durable: string
  readonly filterSubjects: ReadonlyArray<string>
  /** Concurrency over all replicas. */
  readonly unackedMax: number
  /** Without a sign of life for so long, a message is given to somebody else. */
  readonly ackWaitMs: number
}

/** The broker's configuration of a declared consumer. */
export const consumerConfig = (declaration: ConsumerDeclaration): ConsumerConfig => ({
  name: declaration.durable,
  durable_name: declaration.durable,
  filter_subjects: [...declaration.filterSubjects],
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  replay_policy: ReplayPolicy.Instant,
  ack_wait: nanos(declaration.ackWaitMs),
  max_ack_pending: declaration.unackedMax,
  max_deliver: -1
})
