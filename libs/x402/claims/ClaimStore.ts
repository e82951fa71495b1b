/**
 * Claims in the bucket: read from the leader, changed only by their revision. A write whose answer was lost is looked
 * up before it counts as failed; a record's ticket and count of moves show who wrote it.
 */
import { Clock, Effect, Option, Stream } from "effect"
import { type BusError, Kv, type KvBucket, type KvEntry } from "#bus"
import { ClaimLost, type ClaimMove, ClaimRecord, isAsRead, moved, type Retention, timeToLiveMs } from "./claim.ts"

export const claimBucket = "authorizations"

/** A claim as last read or written. */
export interface Claim {
  readonly key: string
  readonly revision: number
  readonly record: ClaimRecord
}

export interface ClaimStore {
  readonly read: (key: string) => Effect.Effect<Option.Option<Claim>, BusError>
  /** Every claim in the bucket, in its present state. */
  readonly all: Stream.Stream<Claim, BusError>
  /** `revision` 0: the key must be new. Fails with `RevisionConflict` when another write came first. */
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

/** Another mover may have led the claim from the same revision to the same state: with another transaction, or none. */
const isSameWrite = (found: ClaimRecord, written: ClaimRecord) =>
  found.ticket === written.ticket &&
  found.moves === written.moves &&
  found.state === written.state &&
  found.asked === written.asked &&
  found.transactions.join() === written.transactions.join()

// A renewal may come between a holder's read and its move, or a sweep's question between a settler's; hardly both
// twice.
const triesMax = 4

/**
 * Moves a claim along its table. The first write of the next revision wins. A strict move is of the revision that the
 * mover knows; any other holds within one life of the claim, and is decided anew on the record read after a lost write.
 */
export const moveClaim = Effect.fnUntraced(function* (
  store: ClaimStore,
  claim: Claim,
  step: ClaimMove,
  isStrict: boolean
): Effect.fn.Return<Claim, ClaimLost | BusError> {
  const nowMs = yield* Clock.currentTimeMillis
  let current = claim
  for (let tries = 0; tries < triesMax; tries += 1) {
    const next = moved(current.record, step, nowMs)
    if (next === undefined) break
    const written = yield* store.write(current.key, next, current.revision).pipe(
      Effect.asSome,
      Effect.catchTag("RevisionConflict", () => Effect.succeedNone)
    )
    if (Option.isSome(written)) return written.value
    const found = Option.getOrUndefined(yield* store.read(claim.key))
    if (found === undefined) return yield* lost(claim, step, null)
    const isOurs = !isStrict && !isAsRead(step) && found.record.ticket === claim.record.ticket
    if (!isOurs) return yield* lost(claim, step, found.record.state)
    current = withFiguresOf(claim, found)
  }
  return yield* lost(claim, step, current.record.state)
})

/** A claim as read, with the charge and the cost that its mover knows and no one has written yet. */
export const withFiguresOf = ({ record: { providerCost, charge } }: Claim, found: Claim): Claim => ({
  ...found,
  record: {
    ...found.record,
    ...(providerCost === undefined ? {} : { providerCost }),
    ...(charge === undefined ? {} : { charge })
  }
})

const lost = (claim: Claim, step: ClaimMove, state: string | null) =>
  new ClaimLost({ claimKey: claim.key, move: step._tag, state })
