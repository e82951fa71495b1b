/**
 * Takes a payment for a call. The key is created, or a released one taken again by its revision: of any number
 * who try at once one succeeds. Each takes a place in its payer's record, for its money; who finds none, or a wallet that
 * does not hold enough for all, lets the claim go again. An unmet payment is created at once, beside its place; of any
 * other a look at both comes first, so that those who will be refused anyway write nothing. Who asks a second time for
 * the same call, because whoever was asked first has fallen silent, takes the claim over: its revision moves, so that the
 * silent one can undo nothing.
 */
import { Clock, Effect, Option, Result } from "effect"
import { type BusError, BusUnavailable } from "#bus"
import { type AnswerKind, payerKeyOf } from "#contracts"
import { Metrics } from "#runtime"
import { canBeTaken, moved, type ClaimRecord } from "./claim.ts"
import type { Claim, ClaimStore } from "./ClaimStore.ts"
import type { ClaimRefused } from "./errors.ts"
import type { ChainUnavailable } from "../errors.ts"
import { claimsTaken } from "../metrics.ts"
import { type PayerBook, recordOf, type PayerName } from "./PayerBook.ts"
import { type PlaceLimits, placeOf, withPlace } from "./payer.ts"
import { type AskFunds, foresee, giveBack, refused, refuseWithoutPlace, reserve } from "./Reservations.ts"
import type { CheckedPayment } from "../scheme.ts"

/**
 * What a payment is claimed for. `binding`: SHA-256 over method, path and body. `holder`: the gateway's instance.
 * `ticket`: drawn for this call alone.
 */
export interface Call {
  readonly binding: string
  readonly kind: AnswerKind
  readonly holder: string
  readonly ticket: string
}

export interface Asking {
  /** Nothing speaks against the payment that this process knows. */
  readonly isUnmet?: boolean
  /** How the chain is asked for the payer's money. Without it nobody compares claims with money. */
  readonly askFunds?: AskFunds
}

export type Refusal = ClaimRefused | BusError | ChainUnavailable

interface Parts {
  readonly store: ClaimStore
  readonly payers: PayerBook
  readonly limits: PlaceLimits
  /** Who is refused is looked at first from now on. */
  readonly refusedNow: (refusal: ClaimRefused, checked: CheckedPayment) => Effect.Effect<void>
}

export const takeClaim = Effect.fnUntraced(function* (parts: Parts) {
  const outcomes = (yield* Metrics).counter(claimsTaken)
  const count = (outcome: string) => Effect.sync(() => outcomes.inc({ outcome }))
  return Effect.fnUntraced(
    function* (
      checked: CheckedPayment,
      call: Call,
      { isUnmet = false, askFunds }: Asking = {}
    ): Effect.fn.Return<Claim, Refusal> {
      const fresh = newRecord(checked, call, yield* Clock.currentTimeMillis)
      const take = isUnmet ? takeUnmet : takeAsFound
      return yield* take(parts, checked, fresh, askFunds ?? null)
    },
    (taking, checked) =>
      taking.pipe(
        Effect.tap(({ record }) => count(record.moves === 0 ? "claimed" : "retaken")),
        Effect.tapErrorTag("ClaimRefused", (refusal) =>
          Effect.andThen(count(refusal.why), parts.refusedNow(refusal, checked))
        )
      )
  )
})

const takeAsFound = Effect.fnUntraced(function* (
  { store, ...parts }: Parts,
  checked: CheckedPayment,
  fresh: ClaimRecord,
  askFunds: AskFunds | null
): Effect.fn.Return<Claim, Refusal> {
  const reads = [parts.payers.read(checked), store.read(checked.claimKey)] as const
  const [seen, found] = yield* Effect.all(reads, { concurrency: 2 })
  const before = Option.getOrUndefined(found)?.record
  const record = before === undefined ? fresh : taken(before, fresh)
  if (record === undefined) return yield* refused(checked, "replay", before?.holder)
  const reserving = { ...parts, checked, place: placeOf(checked.claimKey, record), askFunds }
  yield* refuseWithoutPlace(checked, withPlace(recordOf(checked, seen), reserving.place, parts.limits))
  const known = yield* foresee(reserving, seen)
  const claim = yield* write(store, checked, record, Option.getOrUndefined(found))
  return yield* reserve(reserving, seen, known).pipe(
    Effect.onError(() => letGo(store, claim)),
    Effect.as(claim)
  )
})

/** What is there already is found by the write; what is refused after it is let go again. */
const takeUnmet = Effect.fnUntraced(function* (
  parts: Parts,
  checked: CheckedPayment,
  fresh: ClaimRecord,
  askFunds: AskFunds | null
): Effect.fn.Return<Claim, Refusal> {
  const { store } = parts
  const reserving = { ...parts, checked, place: placeOf(checked.claimKey, fresh), askFunds }
  const both = [Effect.result(reserve(reserving)), Effect.result(store.write(checked.claimKey, fresh, 0))] as const
  const [reserved, created] = yield* Effect.all(both, { concurrency: 2 })
  if (Result.isFailure(created)) {
    if (Result.isSuccess(reserved)) yield* giveBack(reserving)
    if (created.failure._tag === "RevisionConflict") return yield* takeAsFound(parts, checked, fresh, askFunds)
    return yield* created.failure
  }
  const claim = created.success
  if (Result.isSuccess(reserved)) return claim
  yield* letGo(store, claim)
  return yield* reserved.failure
})

const newRecord = (checked: CheckedPayment, call: Call, nowMs: number): ClaimRecord => ({
  state: "CLAIMED",
  network: checked.network,
  asset: checked.asset,
  payer: checked.payer,
  payTo: checked.payTo,
  amount: checked.amount.toString(),
  ...call,
  moves: 0,
  validBeforeMs: checked.validBeforeMs,
  claimedAtMs: nowMs,
  requestedAtMs: null,
  transactions: [],
  asked: 0,
  reason: null,
  payment: { payload: checked.payload, requirements: checked.requirements }
})

/** The record that takes the place of what was found; undefined where that is somebody else's. */
const taken = (found: ClaimRecord, fresh: ClaimRecord): ClaimRecord | undefined => {
  if (canBeTaken(found)) return { ...fresh, moves: 1 }
  return found.state === "CLAIMED" && found.ticket === fresh.ticket
    ? moved(found, { _tag: "Renew" }, fresh.claimedAtMs)
    : undefined
}

/** Who loses the write has met somebody who uses the same payment, or the silent one, who has just woken up. */
const write = (
  store: ClaimStore,
  checked: CheckedPayment,
  record: ClaimRecord,
  found: Claim | undefined
): Effect.Effect<Claim, ClaimRefused | BusError> =>
  Effect.catchTag(store.write(checked.claimKey, record, found?.revision ?? 0), "RevisionConflict", () =>
    Effect.fail(found?.record.state === "CLAIMED" ? awake : refused(checked, "replay"))
  )

const awake = new BusUnavailable({ operation: "take a claim over", detail: "whoever has it moves it still" })

/** What cannot be let go now is let go by the sweep. */
const letGo = (store: ClaimStore, { key, record, revision }: Claim) => {
  const next = moved(record, { _tag: "Release", reason: "no place" }, record.claimedAtMs)
  return next === undefined ? Effect.void : Effect.ignore(store.write(key, next, revision))
}

interface Acquaintance {
  /** True once for a payment, and only while its payer is not refused. */
  readonly meet: (checked: CheckedPayment, nowMs: number) => boolean
  readonly refused: (payer: PayerName, nowMs: number) => void
}

// Some ten minutes of a thousand calls a minute: a replay comes within a payment's time.
const payments = { keysMax: 10_000, keptMs: 600_000 }
// As long as an answer that is not paid for keeps its payer's place.
const payers = { keysMax: 4_096, keptMs: 60_000 }

/**
 * What one process knows of the payments it has met, so that an ordinary one is taken without a look at its claim first:
 * an unmet payment of a payer whom nothing was refused lately. Hints alone: the write to the bucket decides.
 */
export const acquaintance = (): Acquaintance => {
  const met = recentKeys(payments)
  const refused = recentKeys(payers)
  const nameOf = ({ network, payer }: PayerName) => payerKeyOf(network, payer)
  return {
    meet: (checked, nowMs) => {
      const isNew = !met.has(checked.claimKey, nowMs)
      met.add(checked.claimKey, nowMs)
      return isNew && !refused.has(nameOf(checked), nowMs)
    },
    refused: (payer, nowMs) => refused.add(nameOf(payer), nowMs)
  }
}

interface RecentKeys {
  /** Anew, if it was there. */
  readonly add: (key: string, nowMs: number) => void
  readonly has: (key: string, nowMs: number) => boolean
}

interface RecentKeysOptions {
  readonly keysMax: number
  readonly keptMs: number
}

/** Keys that were met a while ago at the longest, in bounded memory: the oldest are forgotten first. */
export const recentKeys = ({ keysMax, keptMs }: RecentKeysOptions): RecentKeys => {
  // In the order of adding: a map keeps it.
  const addedAtMs = new Map<string, number>()
  return {
    add: (key, nowMs) => {
      addedAtMs.delete(key)
      addedAtMs.set(key, nowMs)
      const [oldest] = addedAtMs.keys()
      if (addedAtMs.size > keysMax && oldest !== undefined) addedAtMs.delete(oldest)
    },
    has: (key, nowMs) => {
      const atMs = addedAtMs.get(key)
      return atMs !== undefined && nowMs - atMs < keptMs
    }
  }
}
