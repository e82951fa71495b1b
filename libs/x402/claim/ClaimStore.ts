/**
 * Claims in the bucket: read from the leader, changed only by their revision. A write whose answer was lost is
 * looked for before it counts as failed; a record says by its ticket and count of moves whose it is.
 */
import { Clock, Effect, Option, Stream } from "effect"
import { type BusError, Kv, type KvBucket, type KvEntry } from "#bus"
import { type Retention, timeToLiveMs } from "./claim-policy.ts"
import { ClaimRecord } from "./claim-record.ts"

export const claimBucket = "authorizations"

/** A claim as it was read or written last. */
export interface Claim {
  readonly key: string
  readonly revision: number
  readonly record: ClaimRecord
}

export interface ClaimStore {
  readonly read: (key: string) => Effect.Effect<Option.Option<Claim>, BusError>
  /** Every claim that is kept, as it is now. */
  readonly all: Stream.Stream<Claim, BusError>
  /** `revision` 0: the key must be new. Fails with `RevisionConflict` when somebody else was first. */
  readonly write: (key: string, record: ClaimRecord, revision: number) => Effect.Effect<Claim, BusError>
}

export const openClaimStore = Effect.fnUntraced(function* (
  retention: Retention
): Effect.fn.Return<ClaimStore, BusError, Kv> {
  const bucket = yield* (yield* Kv).open(claimBucket, ClaimRecord)
  return {
    read: (key) => readFrom(bucket, key),
    all: Stream.map(bucket.scan("claim.>"), toClaim),
    write: (...args) => writeTo(bucket, retention, ...args)
  }
})

const toClaim = ({ key, revision, value }: KvEntry<ClaimRecord>): Claim => ({ key, revision, record: value })

const readFrom = (bucket: KvBucket<ClaimRecord>, key: string) => Effect.map(bucket.get(key), Option.map(toClaim))

const writeTo = Effect.fnUntraced(function* (
  bucket: KvBucket<ClaimRecord>,
  retention: Retention,
  key: string,
  record: ClaimRecord,
  revision: number
): Effect.fn.Return<Claim, BusError> {
  const ttlMs = timeToLiveMs(record, retention, yield* Clock.currentTimeMillis)
  const written = yield* bucket
    .update(key, record, revision, ttlMs)
    .pipe(
      Effect.catchTag("BusUnavailable", (unknown) =>
        Effect.flatMap(readFrom(bucket, key), (found) =>
          Option.isSome(found) && found.value.revision > revision && isSameWrite(found.value.record, record)
            ? Effect.succeed(found.value.revision)
            : Effect.fail(unknown)
        )
      )
    )
  return { key, revision: written, record }
})

/** Who moved a claim from the same revision may have led it to the same state: with another transaction, or none. */
const isSameWrite = (found: ClaimRecord, written: ClaimRecord) =>
  found.ticket === written.ticket &&
  found.moves === written.moves &&
  found.state === written.state &&
  found.asked === written.asked &&
  found.transactions.join() === written.transactions.join()
