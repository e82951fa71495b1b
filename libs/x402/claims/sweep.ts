/**
 * Looks after claims whose holders are gone: what was not given out is let go, what was is sent to be settled,
 * and settling is asked for again where nobody reports. One sweeper at a time holds a lease. It reads the
 * bucket's stream in order; a mark that it writes itself comes back with the broker's time, and ages are
 * measured between two of the broker's times. It starts where the oldest claim that had not ended stood.
 */
import { Effect, Option, Schedule, Schema, Stream, Result } from "effect"
import { type BusError, jsonCodec, Kv, type KvBucket, Leases, StreamReader, type SourceMessage } from "#bus"
import { Metrics } from "#runtime"
import { Claims } from "./Claims.ts"
import { claimBucket } from "./ClaimStore.ts"
import { claimSweeps } from "../metrics.ts"
import { isPlaceNeeded, PayerRecord } from "./PayerBook.ts"
import { ClaimRecord, dueMove, hasEnded, type LiveState, moveOf, type SweepMove, type SweepTimes } from "./claim.ts"

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
  const sweepIfDue = ([key, claim]: ReturnType<LiveClaims["claims"]>[number]) => {
    const due = dueMove(claim, nowMs, times)
    if (due === undefined) return Effect.void
    return sweepClaim(claims, { key, revision: claim.revision, due }).pipe(
      Effect.tap((isMade) => Effect.sync(() => (isMade ? swept.inc({ move: due }) : undefined))),
      ignoreFaults(key)
    )
  }
  yield* Effect.forEach(live.claims(), sweepIfDue, { concurrency: sweepsAtOnce, discard: true })
  yield* Effect.forEach(
    live.payers(),
    ([key, payer]) => ignoreFaults(key)(vacateUnneeded(live, payer, nowMs - times.leaseMs)),
    {
      concurrency: sweepsAtOnce,
      discard: true
    }
  )
})

interface Due {
  readonly key: string
  readonly revision: number
  readonly due: SweepMove
}

/** Makes the move of a claim that is still at `revision`; nothing otherwise. */
export const sweepClaim = Effect.fn("Claims.sweep")(function* (
  claims: Claims["Service"],
  { key, revision, due }: Due
): Effect.fn.Return<boolean, BusError> {
  const found = Option.getOrUndefined(yield* claims.read(key))
  if (found?.revision !== revision) return false
  const swept = yield* claims.moveAsRead(found, moveOf(due)).pipe(
    Effect.asSome,
    Effect.catchTag("ClaimLost", () => Effect.succeedNone)
  )
  if (Option.isNone(swept)) return false
  if (due !== "Release") yield* claims.ask(swept.value, null)
  return true
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

interface LiveClaim extends LiveState {
  readonly revision: number
}

interface LivePayer {
  readonly record: PayerRecord
  readonly revision: number
  /** Of each place, by its ticket: when it was seen first. */
  readonly sinceMs: ReadonlyMap<string, number>
}

interface LiveClaims {
  readonly see: (key: string, message: SourceMessage) => void
  readonly has: (key: string) => boolean
  readonly claims: () => ReadonlyArray<readonly [key: string, claim: LiveClaim]>
  readonly payers: () => ReadonlyArray<readonly [key: string, payer: LivePayer]>
  /** From where on the stream holds all that is known here, and all that is not yet read. */
  readonly oldestSequence: () => number
}

const { state, asked } = ClaimRecord.fields
// No more than this of it is kept.
const claimCodec = jsonCodec(Schema.Struct({ state, asked }))
const payerCodec = jsonCodec(PayerRecord)

// Some records of a kilobyte or two; at a first reading, the whole bucket comes by before anybody asks.
const unreadMax = 1_024

type Unread = Pick<SourceMessage, "sequence" | "storedAtMs" | "data">

const noHeader = () => undefined

/**
 * What a sweeper knows: the claims that have not ended and the payers with something unpaid, as the bucket's stream tells
 * them in order. Most of what passes is over at the next sweep: it is put aside as it is, and the last one of each key is
 * read when somebody wants to know.
 */
export const liveClaims = (): LiveClaims => {
  const claims = new Map<string, LiveClaim>()
  const payers = new Map<string, LivePayer>()
  const unread = new Map<string, Unread>()
  let lastSequence = 0

  const readClaim = (key: string, message: Unread) => {
    const decoded = claimCodec.decode({ data: message.data, header: noHeader })
    // Deleted first, so that the map's order stays that of the sequences.
    claims.delete(key)
    if (Result.isFailure(decoded) || hasEnded(decoded.success.state)) return
    const { state, asked } = decoded.success
    claims.set(key, { state, asked, revision: message.sequence, writtenAtMs: message.storedAtMs })
  }
  const readPayer = (key: string, message: Unread) => {
    const decoded = payerCodec.decode({ data: message.data, header: noHeader })
    const before = payers.get(key)?.sinceMs
    payers.delete(key)
    if (Result.isFailure(decoded) || decoded.success.places.length === 0) return
    const { places } = decoded.success
    const sinceMs = new Map(places.map(({ ticket }) => [ticket, before?.get(ticket) ?? message.storedAtMs]))
    payers.set(key, { record: decoded.success, revision: message.sequence, sinceMs })
  }
  const readAll = () => {
    for (const [key, message] of unread) {
      if (key.startsWith("claim.")) readClaim(key, message)
      else readPayer(key, message)
    }
    unread.clear()
  }
  return {
    see: (key, { sequence, storedAtMs, data }) => {
      lastSequence = sequence
      if (!key.startsWith("claim.") && !key.startsWith("payer.")) return
      unread.delete(key)
      // A copy: what came is a piece of all that was received with it.
      unread.set(key, { sequence, storedAtMs, data: data.slice() })
      if (unread.size >= unreadMax) readAll()
    },
    has: (key) => {
      readAll()
      return claims.has(key)
    },
    claims: () => {
      readAll()
      return [...claims]
    },
    payers: () => {
      readAll()
      return [...payers]
    },
    oldestSequence: () => {
      readAll()
      const [claim] = claims.values()
      const [payer] = payers.values()
      return Math.min(claim?.revision ?? Infinity, payer?.revision ?? Infinity, lastSequence + 1)
    }
  }
}
