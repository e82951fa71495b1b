/**
 * The sweep handles claims whose holders are gone: it releases claims whose answer was not sent, has the rest settled,
 * and asks again for a settlement without a report. One sweeper at a time holds a lease. It reads the bucket's stream
 * in order; a checkpoint that it writes itself comes back with the broker's time, and ages are measured between two of
 * the broker's times. It starts at the oldest claim that had not ended.
 */
import { Effect, Option, Schedule, Schema, Stream, Result } from "effect"
import { type BusError, jsonCodec, Kv, type KvBucket, Leases, StreamReader, type SourceMessage } from "#bus"
import { Metrics } from "#runtime"
import { Claims } from "./Claims.ts"
import { claimBucket } from "./ClaimStore.ts"
import { unpaidNow } from "../metrics.ts"
import { Checkpoint, checkpointKey } from "./NewPayers.ts"
import { isPlaceNeeded, PayerRecord } from "./PayerStore.ts"
import { ClaimRecord, dueMove, hasEnded, type LiveState, moveOf, type SweepMove, type SweepTimes } from "./claim.ts"

interface SweepOptions {
  /** This process's name in the lease. */
  readonly holder: string
  readonly times: SweepTimes
  readonly everyMs: number
}

const checkpointCodec = jsonCodec(Checkpoint)

// One at a time, a thousand expired leases would take longer than a lease.
const sweepsAtOnce = 16

/** Sweeps until interrupted, while it holds the lease. */
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
  const checkpoints = yield* (yield* Kv).open(claimBucket, Checkpoint)
  const live = liveClaims()
  const before = yield* checkpoints.get(checkpointKey)
  const from = Option.isSome(before) ? before.value.value.from : 0
  const writing = writeCheckpoints(checkpoints, options, live, Option.isSome(before) ? before.value.revision : 0)
  const reading = reader.follow(`KV_${claimBucket}`, from).pipe(
    Stream.runForEach((message) => {
      const key = message.subject.slice(`$KV.${claimBucket}.`.length)
      if (key !== checkpointKey) return Effect.sync(() => live.see(key, message))
      live.see(key, message)
      const decoded = checkpointCodec.decode(message)
      const isOurs = decoded._tag === "Success" && decoded.success.holder === options.holder
      return isOurs ? sweepOnce(options, live, message.storedAtMs) : Effect.void
    })
  )
  yield* Effect.raceFirst(reading, writing)
})

/** Fails when another sweeper has written its checkpoint, which stops this one. */
const writeCheckpoints = Effect.fnUntraced(function* (
  checkpoints: KvBucket<typeof Checkpoint.Type>,
  { holder, everyMs }: SweepOptions,
  live: LiveClaims,
  firstRevision: number
): Effect.fn.Return<void, BusError, Claims | Metrics> {
  const { unpaidOf } = yield* Claims
  const gauge = (yield* Metrics).gauge(unpaidNow)
  let revision = firstRevision
  const writeOne = Effect.suspend(() => {
    const unpaid = { all: 0, beyond: 0 }
    for (const [, { record }] of live.payers()) {
      const { all, beyond } = unpaidOf(record)
      unpaid.all += all
      unpaid.beyond += beyond
    }
    gauge.set({ part: "all" }, unpaid.all / 1e6)
    gauge.set({ part: "newcomers" }, unpaid.beyond / 1e6)
    const newcomers = { unpaid: unpaid.beyond, asOf: live.lastSequence() }
    return checkpoints.update(checkpointKey, { holder, from: live.oldestSequence(), newcomers }, revision)
  }).pipe(Effect.tap((written) => Effect.sync(() => (revision = written))))
  yield* Effect.repeat(writeOne, Schedule.spaced(everyMs))
})

const ignoreFaults = (key: string) =>
  Effect.catch((error: BusError) => Effect.logWarning(`could not sweep ${key}`, error))

const sweepOnce = Effect.fnUntraced(function* (
  { times }: SweepOptions,
  live: LiveClaims,
  nowMs: number
): Effect.fn.Return<void, never, Claims> {
  const claims = yield* Claims
  const sweepIfDue = ([key, claim]: ReturnType<LiveClaims["claims"]>[number]) => {
    const due = dueMove(claim, nowMs, times)
    if (due === undefined) return Effect.void
    return ignoreFaults(key)(sweepClaim(claims, { key, revision: claim.revision, due }))
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

/** Makes the move of a claim that is still at `revision`; otherwise does nothing. */
export const sweepClaim = Effect.fn("Claims.sweep")(function* (
  claims: Claims["Service"],
  { key, revision, due }: Due
): Effect.fn.Return<void, BusError> {
  const found = Option.getOrUndefined(yield* claims.read(key))
  if (found?.revision !== revision) return
  const swept = yield* claims.moveAsRead(found, moveOf(due)).pipe(
    Effect.asSome,
    Effect.catchTag("ClaimLost", () => Effect.succeedNone)
  )
  if (Option.isSome(swept) && due !== "Release") yield* claims.requestSettlement(swept.value, null)
})

/**
 * Returns places that a crash has left between a claim and its payer's record: those held for a long time without a
 * claim. The record's own age says nothing, because a busy payer's record is written constantly.
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
    const claim = Option.isSome(found) ? found.value.record : null
    if (isPlaceNeeded(place, claim)) continue
    yield* claims.vacate(record, place, claim)
  }
})

interface LiveClaim extends LiveState {
  readonly revision: number
}

interface LivePayer {
  readonly record: PayerRecord
  readonly revision: number
  /** When each place was first seen, by ticket. */
  readonly sinceMs: ReadonlyMap<string, number>
}

interface LiveClaims {
  readonly see: (key: string, message: SourceMessage) => void
  readonly has: (key: string) => boolean
  readonly claims: () => ReadonlyArray<readonly [key: string, claim: LiveClaim]>
  readonly payers: () => ReadonlyArray<readonly [key: string, payer: LivePayer]>
  /** The sequence of the last message read. */
  readonly lastSequence: () => number
  /** The sequence from which the stream holds everything known here, and everything not yet read. */
  readonly oldestSequence: () => number
}

const { state, asked } = ClaimRecord.fields
// Only this part of a claim is kept.
const claimCodec = jsonCodec(Schema.Struct({ state, asked }))
const payerCodec = jsonCodec(PayerRecord)

// Several records of a kilobyte or two; the first reading passes the whole bucket before any question.
const unreadMax = 1_024

type Unread = Pick<SourceMessage, "sequence" | "storedAtMs" | "data">

const noHeader = () => undefined

/**
 * The sweeper's knowledge: the claims that have not ended and the payers with something unpaid, in the order of the
 * bucket's stream. Most records are outdated at the next sweep, so they are stored undecoded, and only the last record
 * of each key is decoded on demand.
 */
export const liveClaims = (): LiveClaims => {
  const claims = new Map<string, LiveClaim>()
  const payers = new Map<string, LivePayer>()
  const unread = new Map<string, Unread>()
  let lastSequence = 0

  const readClaim = (key: string, message: Unread) => {
    const decoded = claimCodec.decode({ data: message.data, header: noHeader })
    // Deleted first, so that the map keeps the order of the sequences.
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
      // A copy, because the data are a slice of the whole buffer that was received.
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
    lastSequence: () => lastSequence,
    oldestSequence: () => {
      readAll()
      const [claim] = claims.values()
      const [payer] = payers.values()
      return Math.min(claim?.revision ?? Infinity, payer?.revision ?? Infinity, lastSequence + 1)
    }
  }
}
