/**
 * The vocabulary of the topology: what may be said of a stream, a key-value bucket and an object store.
 * Data only; `apply-topology.ts` brings it to the broker, `topology-document.ts` to the page.
 */

/** A role of the fleet, or the services around it. */
export type Party =
  | "pipeline-api"
  | "webhook-dispatcher"
  | "sweeper"
  | "model-gateway"
  | "payment-verifier"
  | "payment-settler"
  | "speech-api"
  | "speech-sequencer"
  | "speech-synthesizer"
  | "internal services"
  | "operator"

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
  readonly features: ReadonlyArray<"atomic batches" | "schedules" | "rollup" | "direct reads">
  readonly publishers: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
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

export interface Topology {
  readonly streams: ReadonlyArray<StreamDeclaration>
  readonly buckets: ReadonlyArray<BucketDeclaration>
  readonly objectStores: ReadonlyArray<ObjectStoreDeclaration>
}
