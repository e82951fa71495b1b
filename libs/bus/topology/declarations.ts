/**
 * The vocabulary of the topology: the declarations of streams, key-value buckets and object stores. Data only;
 * `apply.ts` brings it to the broker, `topology.ts` to the page.
 */

/** The roles of the fleet, and the parties around it. */
export const parties = [
  "pipeline-api",
  "webhook-dispatcher",
  "sweeper",
  "model-gateway",
  "payment-verifier",
  "payment-settler",
  "speech-api",
  "speech-sequencer",
  "speech-synthesizer",
  "console",
  "internal services",
  "runners",
  "operator"
] as const
export type Party = (typeof parties)[number]

/** The broker's name for a party: its user, and the name of its inbox and of the consumers created for it. */
export const userOf = (party: Party) => party.replaceAll(" ", "-")

/** Parties that are not part of the fleet. */
export const outsiders: ReadonlyArray<Party> = ["internal services", "runners"]

/**
 * Parties in the account of the streams. Every other party has an account of its own, which imports its rights one by
 * one: a server checks the subject that a client publishes to but never the reply that it names, so within the account
 * of the streams any publisher could have any subject written. Parties that create consumers must be here, because a
 * consumer delivers to whatever subject it is created with; and so must the operator, who removes what must go.
 */
export const besideStreams: ReadonlyArray<Party> = [
  "webhook-dispatcher",
  "payment-settler",
  "speech-synthesizer",
  "operator"
]

/** Parties that see the figures of every stream, bucket and store, but only the messages that they read. */
export const watchers: ReadonlyArray<Party> = ["console"]

/** The prefix below which a stream or bucket announces what it stores, if it does, to its followers. */
export const storedPrefix = "stored."

/** One JetStream stream. Bytes and milliseconds; a null limit means none. */
export interface StreamDeclaration {
  readonly name: string
  readonly why: string
  readonly subjects: ReadonlyArray<string>
  readonly retention: "limits" | "workqueue"
  readonly storage: "file" | "memory"
  /** What happens at a limit: `new` refuses the publisher, `old` evicts. */
  readonly discard: "new" | "old"
  readonly ageMsMax: number | null
  readonly bytesMax: number | null
  readonly messageBytesMax: number | null
  readonly features: ReadonlyArray<
    "atomic batches" | "schedules" | "rollup" | "direct reads" | "message ages" | "announced"
  >
  readonly publishers: ReadonlyArray<Party>
  /** Publishers that can write only to some of the subjects. */
  readonly publishesOnly?: Partial<Record<Party, ReadonlyArray<string>>>
  readonly readers: ReadonlyArray<Party>
  /** Readers that create consumers, each taking every message once. */
  readonly consumers?: ReadonlyArray<Party>
  /** Consumers for readers that create none: they are created with the stream. */
  readonly readyConsumers?: ReadonlyArray<ReadyConsumer>
  /** Parties that can also remove messages by hand and pause consumers. */
  readonly keepers?: ReadonlyArray<Party>
}

/** A durable pull consumer of a stream, under its reader's name. */
export interface ReadyConsumer {
  readonly reader: Party
  readonly filterSubjects: ReadonlyArray<string>
  /** The most messages delivered and not acked, over all processes of the reader. */
  readonly unackedMax: number
  /** A message without a heartbeat for this long is delivered again. */
  readonly ackWaitMs: number
}

/** One key-value bucket. `leaderReads`: a read must see the last write, so it never goes to a replica. */
export interface BucketDeclaration {
  readonly name: string
  readonly why: string
  readonly ttlMs: number | null
  readonly keyTtl: boolean
  readonly valueBytesMax: number
  readonly leaderReads: boolean
  /** It has followers: each change is announced as it is stored. */
  readonly isFollowed?: true
  readonly writers: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
  /** Parties that can also remove keys by hand. */
  readonly keepers?: ReadonlyArray<Party>
}

export interface ObjectStoreDeclaration {
  readonly name: string
  readonly why: string
  readonly ttlMs: number | null
  readonly bytesMax: number | null
  readonly writers: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
}

/**
 * Subjects of core messages. One process of the receivers answers a `question`; a `mailbox` belongs to one process; a
 * `notice` goes to whichever user of the receivers its last token names, under `rejected.<user>`. Receivers share an
 * account.
 */
export interface CoreDeclaration {
  readonly name: string
  readonly kind: "question" | "mailbox" | "notice"
  readonly why: string
  readonly subjects: ReadonlyArray<string>
  /** The subjects on which they arrive, where the broker adds the sender's name. */
  readonly arrivesOn?: ReadonlyArray<string>
  readonly senders: ReadonlyArray<Party>
  readonly receivers: ReadonlyArray<Party>
}

export interface Topology {
  readonly streams: ReadonlyArray<StreamDeclaration>
  readonly buckets: ReadonlyArray<BucketDeclaration>
  readonly objectStores: ReadonlyArray<ObjectStoreDeclaration>
}
