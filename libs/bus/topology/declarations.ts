/**
 * The vocabulary of the topology: what may be said of a stream, a key-value bucket and an object store.
 * Data only; `apply-topology.ts` brings it to the broker, `topology-document.ts` to the page.
 */

/** The roles of the fleet, and who is around it. */
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
  "internal services",
  "operator"
] as const
export type Party = (typeof parties)[number]

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
  readonly features: ReadonlyArray<"atomic batches" | "schedules" | "rollup" | "direct reads" | "message ages">
  readonly publishers: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
  /** Who may also take messages out by hand and pause consumers. */
  readonly keepers?: ReadonlyArray<Party>
}

/** One key-value bucket. `leaderReads`: a read must see the last write, so it never goes to a replica. */
export interface BucketDeclaration {
  readonly name: string
  readonly why: string
  readonly ttlMs: number | null
  readonly keyTtl: boolean
  readonly valueBytesMax: number
  readonly leaderReads: boolean
  readonly writers: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
  /** Who may also take keys out by hand. */
  readonly keepers?: ReadonlyArray<Party>
}

/** One object store. */
export interface ObjectStoreDeclaration {
  readonly name: string
  readonly why: string
  readonly ttlMs: number | null
  readonly bytesMax: number | null
  readonly writers: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
}

/** Subjects of core messages. A `question` is answered by one of the receivers; a `mailbox` is a process' own. */
export interface CoreDeclaration {
  readonly name: string
  readonly kind: "question" | "mailbox"
  readonly why: string
  readonly subjects: ReadonlyArray<string>
  readonly senders: ReadonlyArray<Party>
  readonly receivers: ReadonlyArray<Party>
}

export interface Topology {
  readonly streams: ReadonlyArray<StreamDeclaration>
  readonly buckets: ReadonlyArray<BucketDeclaration>
  readonly objectStores: ReadonlyArray<ObjectStoreDeclaration>
}
