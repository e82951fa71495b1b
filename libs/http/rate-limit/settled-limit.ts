/**
 * A rate limit over all replicas that costs its callers no look-up: each replica decides by what it knows, and settles
 * its counts with the store every quarter of a second. Several windows share one log of a key's takes. A replica is
 * exact about its own takes and learns of the others' when it settles. So a key that comes to several replicas at once
 * exceeds its limit by at most what each admits within one interval, and each alone admits no more than the limit. When
 * the store falls behind or is unavailable, takes wait until they are counted, and fail if they cannot be.
 */
import { hash } from "node:crypto"
import { Array as Arr, Clock, Deferred, Effect, Option, Order, Schema } from "effect"
import { type BusError, BusUnavailable, Kv, type KvEntry, records, replaced } from "#bus"
import { Metrics } from "#runtime"
import { rateLimited, serviceUnavailable } from "../WireError.ts"
import { sharedWindowTakes } from "../metrics.ts"
import { giveBackToLog, type RateLog, type RateRefused, takeFromLog } from "./RateWindow.ts"

export interface LimitWindow {
  /** Names the window in refusals and in metrics. */
  readonly name: string
  /** At most 300: that many times are kept per key. */
  readonly limit: number
  readonly windowMs: number
}

type Windows = Arr.NonEmptyReadonlyArray<LimitWindow>

export type LimitDecision = { readonly _tag: "Taken" } | (RateRefused & { readonly window: string })

export interface SettledLimit {
  /** Fails if the take cannot be counted. */
  readonly take: (key: string) => Effect.Effect<LimitDecision, BusError>
}

/** How often a replica settles: this bounds how far a key can exceed its limit. */
const settleEveryMs = 250
// If counts wait for longer than this, the store is behind: from then on takes wait for it.
const unsettledMsMax = 2 * settleEveryMs
// Shorter than any caller waits for a refusal.
const withinMs = 3_000
// A replica's keys settle concurrently, so that their requests leave in one write.
const atOnce = 256
// Beyond this number the key with the oldest last take is forgotten; the store still has it.
const keysMax = 10_000
const logOfTakes = Schema.Array(Schema.Int)

interface Take {
  readonly atMs: number
  /** Completes once the take is in the store, or cannot be stored. */
  readonly settled?: Deferred.Deferred<void, BusError>
}

/** What this replica knows of a key. */
interface Known {
  /** Every take known here, its own and those of others. */
  log: RateLog
  /** Its own takes that are not in the store yet. */
  unsettled: ReadonlyArray<Take>
  /** The store's log; none until it was written or read. */
  stored: Option.Option<KvEntry<RateLog>>
}

/** The decision, and the log to keep if a slot was taken. The longest window decides first. Pure. */
export const takeFromWindows = (
  log: RateLog,
  longestFirst: Windows,
  nowMs: number
): { readonly decision: LimitDecision; readonly log: RateLog } => {
  let next = log
  for (const [index, window] of longestFirst.entries()) {
    const { decision, log: kept } = takeFromLog(log, window, nowMs)
    if (decision._tag === "Refused") return { decision: { ...decision, window: window.name }, log }
    if (index === 0) next = kept
  }
  return { decision: { _tag: "Taken" }, log: next }
}

/** The store's log with the takes that it lacks, at most as many as any limit counts. Pure. */
export const mergedLog = (stored: RateLog, unsettled: RateLog, limitMax: number): RateLog => {
  const log = [...stored]
  // Most come last. `toSorted` boxes each number of the list that it makes, and every call reads this list.
  for (const atMs of unsettled) log.splice(log.findLastIndex((earlier) => earlier <= atMs) + 1, 0, atMs)
  return log.slice(-limitMax)
}

/** Takes, or fails with 429 that names the window, or with 503 if the store does not answer. */
export const takeOrRefuse = Effect.fnUntraced(function* (
  { take }: SettledLimit,
  key: string,
  headersOf: (refusal: RateRefused) => Readonly<Record<string, string>>
) {
  const decision = yield* Effect.catch(take(key), (error) =>
    Effect.andThen(
      Effect.logWarning("a rate limit cannot be checked", error),
      Effect.fail(serviceUnavailable(1, "rate limits cannot be checked just now"))
    )
  )
  if (decision._tag === "Refused") {
    return yield* rateLimited(decision.retryAfterMs / 1_000, decision.window, headersOf(decision))
  }
})

/** Made once, where its role starts; settles what it has counted when its scope ends. */
export const settledLimit = Effect.fnUntraced(function* (windows: Windows) {
  const longestFirst = Arr.sortWith(windows, ({ windowMs }) => -windowMs, Order.Number)
  const [longest] = longestFirst
  const takes = (yield* Metrics).counter(sharedWindowTakes)
  for (const { name } of windows) takes.begin({ window: name })
  const keys = knownKeys()
  const store = yield* storeOf(longestFirst, keys)
  yield* Effect.addFinalizer(() => store.settleAll)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(settleEveryMs), store.settleAll)))

  const fail = (detail: string) =>
    Effect.suspend(() => {
      takes.inc({ window: longest.name, outcome: "failed" })
      return Effect.fail(new BusUnavailable({ operation: `count a call in ${longest.name}`, detail }))
    })
  const take = (key: string): Effect.Effect<LimitDecision, BusError> =>
    Effect.flatMap(Clock.Clock, (clock): Effect.Effect<LimitDecision, BusError> => {
      const nowMs = clock.currentTimeMillisUnsafe()
      const known = keys.find(key)
      if (known === undefined) return fail("too many keys wait to be counted")
      const { decision, log } = takeFromWindows(known.log, longestFirst, nowMs)
      if (decision._tag === "Refused") {
        takes.inc({ window: decision.window, outcome: "refused" })
        return Effect.succeed(decision)
      }
      const taken: Take = {
        atMs: log.at(-1) ?? nowMs,
        ...(store.isBehind() ? { settled: Deferred.makeUnsafe<void, BusError>() } : {})
      }
      known.log = log
      known.unsettled = [...known.unsettled, taken]
      keys.unsettled(key, known)
      for (const { name } of windows) takes.inc({ window: name, outcome: "taken" })
      if (taken.settled === undefined) return Effect.succeed(decision)
      return Effect.as(counted(taken.settled, longest.name), decision)
    })
  const limit: SettledLimit = { take }
  return limit
})

const counted = (settled: Deferred.Deferred<void, BusError>, name: string) =>
  Effect.timeoutOrElse(Deferred.await(settled), { duration: withinMs, orElse: () => Effect.fail(noAnswer(name)) })

const noAnswer = (name: string) =>
  new BusUnavailable({ operation: `count a call in ${name}`, detail: `no answer within ${withinMs} ms` })

/** The keys in the order of their last takes, and those with something to settle. Bounded. */
const knownKeys = () => {
  const known = new Map<string, Known>()
  const waiting = new Map<string, { readonly of: Known; readonly sinceMs: number }>()
  const forgetOldest = () => {
    for (const key of known.keys()) {
      if (waiting.has(key)) continue
      known.delete(key)
      return
    }
  }
  return {
    waiting,
    /** Undefined if there is no room for another key. */
    find: (key: string): Known | undefined => {
      const found = known.get(key)
      if (found !== undefined) {
        known.delete(key)
        known.set(key, found)
        return found
      }
      if (known.size >= keysMax) forgetOldest()
      if (known.size >= keysMax) return undefined
      const made: Known = { log: [], unsettled: [], stored: Option.none() }
      known.set(key, made)
      return made
    },
    unsettled: (key: string, of: Known) => {
      if (!waiting.has(key)) waiting.set(key, { of, sinceMs: performance.now() })
    }
  }
}

/** Writes the keys' logs to the store. */
const storeOf = Effect.fnUntraced(function* (longestFirst: Windows, { waiting }: ReturnType<typeof knownKeys>) {
  const [{ name, windowMs }] = longestFirst
  const limitMax = Math.max(...longestFirst.map(({ limit }) => limit))
  const bucket = yield* (yield* Kv).open("rate-windows", logOfTakes)
  // A log lives a window longer than its last take; by then all its times have expired.
  const logs = records(bucket, { keptMs: () => windowMs + 1_000 })
  const takes = (yield* Metrics).counter(sharedWindowTakes)
  let isFailing = false

  const write = Effect.fnUntraced(function* (id: string, known: Known) {
    const sent = known.unsettled
    const times = sent.map(({ atMs }) => atMs)
    const { value = [], revision } = yield* logs.change(
      id,
      (stored = []) => replaced(mergedLog(stored, times, limitMax)),
      { known: known.stored }
    )
    known.stored = Option.some({ key: id, value, revision })
    known.unsettled = known.unsettled.filter((take) => !sent.includes(take))
    const since = known.unsettled.map(({ atMs }) => atMs)
    known.log = mergedLog(value, since, limitMax)
    return sent
  })

  const settle = Effect.fnUntraced(function* (key: string, known: Known) {
    const writing = Effect.timeoutOrElse(write(`${name}.${hash("sha256", key, "hex")}`, known), {
      duration: withinMs,
      orElse: () => Effect.fail(noAnswer(name))
    })
    const written = yield* Effect.result(writing)
    // What was taken meanwhile is settled next time; what could not be counted, with the next try.
    waiting.delete(key)
    if (written._tag === "Success") {
      isFailing = false
      for (const { settled } of written.success) if (settled !== undefined) Deferred.doneUnsafe(settled, Effect.void)
    } else {
      takes.inc({ window: name, outcome: "failed" })
      if (!isFailing) yield* Effect.logWarning("calls cannot be counted over all replicas", written.failure)
      isFailing = true
      refuseWaiting(known, written.failure)
    }
    const nowMs = yield* Clock.currentTimeMillis
    known.unsettled = known.unsettled.filter(({ atMs }) => atMs + windowMs > nowMs)
    if (known.unsettled.length > 0) waiting.set(key, { of: known, sinceMs: performance.now() })
  })

  return {
    settleAll: Effect.suspend(() =>
      Effect.forEach([...waiting], ([key, { of }]) => settle(key, of), { concurrency: atOnce, discard: true })
    ),
    /** Whether a take must wait until it is counted. */
    isBehind: () => {
      const [oldest] = waiting.values()
      return isFailing || (oldest !== undefined && performance.now() - oldest.sinceMs > unsettledMsMax)
    }
  }
})

/** Takes whose callers wait do not count if they cannot be counted: their calls are refused. */
const refuseWaiting = (known: Known, error: BusError) => {
  for (const { atMs, settled } of known.unsettled) {
    if (settled === undefined) continue
    known.log = giveBackToLog(known.log, atMs)
    Deferred.doneUnsafe(settled, Effect.fail(error))
  }
  known.unsettled = known.unsettled.filter(({ settled }) => settled === undefined)
}
