/**
 * Looks after claims whose holders are gone: what was not given out is let go, what was is sent to be settled,
 * and settling is asked for again where nobody reports. One sweeper at a time holds a lease. It reads the
 * bucket's stream in order; a mark that it writes itself comes back with the broker's time, and ages are
 * measured between two of the broker's times. It starts where the oldest claim that had not ended stood.
 */
import { Effect, Option, Schedule, Schema, Stream } from "effect"
import { type BusError, jsonCodec, Kv, type KvBucket, Leases, StreamReader } from "#bus"
import { Metrics } from "#runtime"
import { Claims } from "./Claims.ts"
import { claimBucket } from "./ClaimStore.ts"
import { claimSweeps } from "../metrics.ts"
import { isPlaceNeeded } from "./payer-policy.ts"
import { dueMove, type SweepTimes } from "./sweep-policy.ts"
import { type LiveClaims, liveClaims, type LivePayer } from "./live-claims.ts"

export interface SweepOptions {
  /** This process, in the lease. */
  readonly holder: string
  readonly times: SweepTimes
  readonly everyMs: number
}

const markKey = "sweep"
/** `from`: the sequence of the oldest record that a sweeper must see. */
const Mark = Schema.Struct({ holder: Schema.String, from: Schema.Int })
const markCodec = jsonCodec(Mark)

// One by one a thousand ended leases would take longer than a lease.
const sweepsAtOnce = 16

/** Sweeps for as long as it runs, whenever the lease is ours. */
export const sweepClaims = Effect.fn("sweepClaims")(function* (
  options: SweepOptions
): Effect.fn.Return<never, never, Claims | Kv | Leases | Metrics | StreamReader> {
  const leases = yield* Leases
  const work = sweepWhileHeld(options).pipe(
    Effect.catch((error) => Effect.logWarning("the sweep of claims broke and begins again", error))
  )
  return yield* leases.whileHeld({ key: "claim-sweep", holder: options.holder }, work)
})

const sweepWhileHeld = Effect.fnUntraced(function* (
  options: SweepOptions
): Effect.fn.Return<void, BusError, Claims | Kv | Metrics | StreamReader> {
  const reader = yield* StreamReader
  const marks = yield* (yield* Kv).open(claimBucket, Mark)
  const live = liveClaims()
  const before = yield* marks.get(markKey)
  const from = Option.isSome(before) ? before.value.value.from : 0
  const marking = mark(marks, options, live, Option.isSome(before) ? before.value.revision : 0)
  const reading = reader.follow(`KV_${claimBucket}`, from).pipe(
    Stream.runForEach((message) => {
      const key = message.subject.slice(`$KV.${claimBucket}.`.length)
      if (key !== markKey) return Effect.sync(() => live.see(key, message))
      live.see(key, message)
      const decoded = markCodec.decode(message)
      const isOurs = decoded._tag === "Success" && decoded.success.holder === options.holder
      return isOurs ? sweepOnce(options, live, message.storedAtMs) : Effect.void
    })
  )
  yield* Effect.raceFirst(reading, marking)
})

/** Another sweeper's mark in the way is a `RevisionConflict`, which ends this one. */
const mark = Effect.fnUntraced(function* (
  marks: KvBucket<typeof Mark.Type>,
  { holder, everyMs }: SweepOptions,
  live: LiveClaims,
  firstRevision: number
): Effect.fn.Return<void, BusError> {
  let revision = firstRevision
  const writeOne = Effect.suspend(() => marks.update(markKey, { holder, from: live.oldestSequence() }, revision)).pipe(
    Effect.tap((written) => Effect.sync(() => (revision = written)))
  )
  yield* Effect.repeat(writeOne, Schedule.spaced(everyMs))
})

const ignoreFaults = (key: string) =>
  Effect.catch((error: BusError) => Effect.logWarning(`could not sweep ${key}`, error))

const sweepOnce = Effect.fnUntraced(function* (
  { times }: SweepOptions,
  live: LiveClaims,
  nowMs: number
): Effect.fn.Return<void, never, Claims | Metrics> {
  const claims = yield* Claims
  const swept = (yield* Metrics).counter(claimSweeps)
  const sweepClaim = ([key, claim]: ReturnType<LiveClaims["claims"]>[number]) => {
    const due = dueMove(claim, nowMs, times)
    if (due === undefined) return Effect.void
    return claims.sweep(key, claim.revision, due).pipe(
      Effect.tap((isMade) => Effect.sync(() => (isMade ? swept.inc({ move: due }) : undefined))),
      ignoreFaults(key)
    )
  }
  yield* Effect.forEach(live.claims(), sweepClaim, { concurrency: sweepsAtOnce, discard: true })
  yield* Effect.forEach(
    live.payers(),
    ([key, payer]) => ignoreFaults(key)(vacateUnneeded(live, payer, nowMs - times.leaseMs)),
    {
      concurrency: sweepsAtOnce,
      discard: true
    }
  )
})

/**
 * Gives back places that a crash has left between a claim and its payer's record: those that stand since before and for
 * which no claim does. How often the record is written says nothing: a busy payer's is written all the time.
 */
const vacateUnneeded = Effect.fnUntraced(function* (
  live: LiveClaims,
  { record, sinceMs }: LivePayer,
  beforeMs: number
): Effect.fn.Return<void, BusError, Claims> {
  const claims = yield* Claims
  const old = record.places.filter(({ ticket }) => (sinceMs.get(ticket) ?? Infinity) <= beforeMs)
  for (const place of old.filter(({ claimKey }) => !live.has(claimKey))) {
    const found = yield* claims.read(place.claimKey)
    if (isPlaceNeeded(place, Option.isSome(found) ? found.value.record : null)) continue
    yield* claims.vacate(record, place)
  }
})
