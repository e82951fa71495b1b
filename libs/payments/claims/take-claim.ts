/**
 * Takes a payment for a call. The key is created, or a released claim is taken again by its revision: of any number of
 * concurrent callers one succeeds. Each takes a place in its payer's record for its money; a caller that finds no
 * place, or a wallet with too little for all, releases the claim again. A payment seen for the first time is created at
 * once, with its place. For any other, the claim and the payer are read first, so that a refusal writes nothing. When a
 * gateway asks again for the same call because the first verifier does not answer, the claim is taken over: its
 * revision moves, so the silent verifier cannot undo anything.
 *
 * A claim is valid only while the chain shows enough money for it and for all claims before it in the record. The
 * record's order decides, whichever gateway, verifier or process asks. A claim without others before it reads no
 * balance: the transfer's simulation reads the same wallet and gives the same answer. A balance counts only if it was
 * requested after the newest settlement in the record. Otherwise a payment's money could still appear in the wallet
 * after its place is gone.
 */
import { Clock, Effect, Fiber, Option, Result } from "effect"
import { type BusError, BusUnavailable } from "#bus"
import { type AnswerKind, payerKeyOf } from "#payments/contract"
import { Metrics } from "#runtime"
import type { ChainUnavailable } from "../errors.ts"
import { claimsTaken } from "../metrics.ts"
import type { CheckedPayment, Funds } from "../scheme.ts"
import type { Claim, ClaimStore } from "./ClaimStore.ts"
import type { NewPayers } from "./NewPayers.ts"
import {
  amountNeeded,
  hasSettledLately,
  type PayerStore,
  type PayerEntry,
  type PayerRecord,
  type Place,
  type PlaceTerms,
  placeOf,
  placesBefore,
  type PlaceTaken,
  recordOf,
  withoutPlace,
  withPlace
} from "./PayerStore.ts"
import { canBeTaken, type ClaimRecord, ClaimRefused, moved } from "./claim.ts"
import type { CreditTerms } from "./credit.ts"

/** Reads the payer's balance, and which of these claims have been paid from it. Not read for a claim without others. */
export type ReadFunds = (claimKeys: ReadonlyArray<string>) => Effect.Effect<Funds, ChainUnavailable>

/**
 * The call that a payment is claimed for. `binding`: SHA-256 over method, path and body. `holder`: the gateway's
 * instance. `ticket`: drawn for this call only. `model`: for the receipt.
 */
export interface Call {
  readonly binding: string
  readonly kind: AnswerKind
  readonly holder: string
  readonly ticket: string
  readonly model?: string
}

export interface TakeOptions {
  /** The result of `isFirstSeen`. */
  readonly isFirstSeen?: boolean
  /** How the payer's money is read on the chain. Without it, claims are not compared with money. */
  readonly readFunds?: ReadFunds | null
  /** Nothing is done for the payment before it is settled: if it never is, nothing is lost. */
  readonly isSettledFirst?: boolean
}

export type Refusal = ClaimRefused | BusError | ChainUnavailable

interface Parts {
  readonly store: ClaimStore
  readonly payers: PayerStore
  readonly newPayers: NewPayers
  readonly credit: CreditTerms
  readonly microUsdOf: PlaceTerms["microUsdOf"]
  /** From now on, this payer's claim and record are read first. */
  readonly refusedNow: (refusal: ClaimRefused, checked: CheckedPayment) => Effect.Effect<void>
  /** Payers for which one call in this process is waiting until a settlement is recorded. */
  readonly lookingAgain: Set<string>
}

export const takeClaim = Effect.fnUntraced(function* (given: Omit<Parts, "lookingAgain">) {
  const parts: Parts = { ...given, lookingAgain: new Set() }
  const outcomes = (yield* Metrics).counter(claimsTaken)
  const count = (outcome: "claimed" | "retaken" | ClaimRefused["why"]) => Effect.sync(() => outcomes.inc({ outcome }))
  return Effect.fnUntraced(
    function* (
      checked: CheckedPayment,
      call: Call,
      { isFirstSeen = false, readFunds = null, isSettledFirst = false }: TakeOptions = {}
    ): Effect.fn.Return<Claim, Refusal> {
      const fresh = newRecord(checked, call, yield* Clock.currentTimeMillis)
      const take = isFirstSeen ? takeFirstSeen : takeAsFound
      return yield* take(parts, checked, fresh, { readFunds, isSettledFirst })
    },
    (taking, checked, { ticket }) =>
      taking.pipe(
        Effect.onError(() => Effect.sync(() => parts.newPayers.giveBack(ticket))),
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
  asked: Asked
): Effect.fn.Return<Claim, Refusal> {
  const reads = [parts.payers.read(checked), store.read(checked.claimKey)] as const
  const [seen, found] = yield* Effect.all(reads, { concurrency: 2 })
  const before = Option.getOrUndefined(found)?.record
  const record = before === undefined ? fresh : taken(before, fresh)
  if (record === undefined) return yield* refused(checked, "replay", before && { holder: before.holder })
  const reserving = { ...parts, ...asked, checked, place: placeOf(checked.claimKey, record) }
  const entry = yield* findPlace(reserving, seen)
  const known = yield* foresee(reserving, entry)
  const claim = yield* write(store, checked, record, Option.getOrUndefined(found))
  return yield* reserve(reserving, entry, known).pipe(
    Effect.onError(() => releaseAgain(store, claim)),
    Effect.as(claim)
  )
})

/** The write finds an existing claim; a refusal after it releases the claim again. */
const takeFirstSeen = Effect.fnUntraced(function* (
  parts: Parts,
  checked: CheckedPayment,
  fresh: ClaimRecord,
  asked: Asked
): Effect.fn.Return<Claim, Refusal> {
  const { store } = parts
  const reserving = { ...parts, ...asked, checked, place: placeOf(checked.claimKey, fresh) }
  const creating = store.records.replace(checked.claimKey, fresh, 0)
  const both = [Effect.result(reserve(reserving)), Effect.result(creating)] as const
  const [reserved, created] = yield* Effect.all(both, { concurrency: 2 })
  if (Result.isFailure(created) || !created.success.answer) {
    if (Result.isSuccess(reserved)) yield* giveBack(reserving)
    return Result.isFailure(created) ? yield* created.failure : yield* takeAsFound(parts, checked, fresh, asked)
  }
  const claim: Claim = { key: checked.claimKey, revision: created.success.revision, record: fresh }
  if (Result.isSuccess(reserved)) return claim
  yield* releaseAgain(store, claim)
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

/** The record that replaces the found one; undefined if the found one belongs to another call. */
const taken = (found: ClaimRecord, fresh: ClaimRecord): ClaimRecord | undefined => {
  if (canBeTaken(found)) return { ...fresh, moves: 1 }
  return found.state === "CLAIMED" && found.ticket === fresh.ticket
    ? moved(found, { _tag: "Renew" }, fresh.claimedAtMs)
    : undefined
}

/** Losing this write means that another call uses the payment, or that the silent verifier is running again. */
const write = (
  store: ClaimStore,
  checked: CheckedPayment,
  record: ClaimRecord,
  found: Claim | undefined
): Effect.Effect<Claim, ClaimRefused | BusError> =>
  Effect.flatMap(store.records.replace(checked.claimKey, record, found?.revision ?? 0), ({ answer, revision }) => {
    if (answer) return Effect.succeed({ key: checked.claimKey, revision, record })
    return Effect.fail(found?.record.state === "CLAIMED" ? stillMoved : refused(checked, "replay"))
  })

const stillMoved = new BusUnavailable({ operation: "take a claim over", detail: "its verifier still moves it" })

/** If a claim cannot be released now, the sweep releases it. */
const releaseAgain = (store: ClaimStore, { key, record, revision }: Claim) => {
  const next = moved(record, { _tag: "Release", reason: "no place" }, record.claimedAtMs)
  return next === undefined ? Effect.void : Effect.ignore(store.records.replace(key, next, revision))
}

interface Asked {
  /** Null when the caller is responsible for the money. */
  readonly readFunds: ReadFunds | null
  readonly isSettledFirst: boolean
}

interface Reserving extends Asked, Omit<Parts, "store" | "refusedNow"> {
  readonly checked: CheckedPayment
  readonly place: Place
}

/** A balance, and the settlement after which it was read. */
interface Seen {
  readonly funds: Funds
  readonly settledLast: string | undefined
}

/** Takes the place and keeps it, or fails and leaves none. */
const reserve = Effect.fnUntraced(function* (
  reserving: Reserving,
  entry?: PayerEntry,
  known?: Seen
): Effect.fn.Return<void, Refusal> {
  const { payers, newPayers, checked, place } = reserving
  const seen = yield* findPlace(reserving, entry ?? (yield* payers.read(checked)))
  const before = recordOf(checked, seen)
  const nowMs = yield* Clock.currentTimeMillis
  // Read during the write; the chain takes longer than the write does.
  const reading =
    known === undefined && needsFunds(before, place, nowMs)
      ? yield* Effect.forkChild(Effect.result(seeFunds(reserving, before)), { startImmediately: true })
      : undefined
  let outcome: PlaceTaken = { _tag: "Held" }
  const terms = termsOf(reserving, nowMs)
  const take = (payer: PayerRecord) => {
    outcome = withPlace(payer, place, terms)
    return outcome._tag === "Taken" ? outcome.record : undefined
  }
  const forget = reading === undefined ? Effect.void : Fiber.interrupt(reading)
  const undone = () => Effect.andThen(forget, giveBack(reserving))
  const { record: after, revision } = yield* Effect.onError(payers.change(checked, take, seen), undone)
  newPayers.isWritten(place.ticket, revision)
  yield* Effect.onError(refuseWithoutPlace(checked, outcome), () => forget)
  if (!needsFunds(after, place, nowMs)) return yield* forget
  const result = reading === undefined ? Effect.succeed(known) : Effect.flatMap(Fiber.join(reading), Effect.fromResult)
  yield* Effect.onError(
    Effect.flatMap(result, (seen) => covered(reserving, after, seen)),
    undone
  )
})

/** Whether the money would suffice for a place taken now, without taking it; returns the balance that was read. */
const foresee = (reserving: Reserving, entry: PayerEntry): Effect.Effect<Seen | undefined, Refusal> => {
  const record = recordOf(reserving.checked, entry)
  return Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    needsFunds(record, reserving.place, nowMs)
      ? Effect.flatMap(seeFunds(reserving, record), (seen) => covered(reserving, record, seen))
      : Effect.undefined
  )
}

const termsOf = ({ credit, microUsdOf, newPayers, place, isSettledFirst }: Reserving, nowMs: number) =>
  isSettledFirst
    ? null
    : { credit, microUsdOf, nowMs, hasRoom: (beyond: number) => newPayers.take(place.ticket, beyond, nowMs) }

/** Fails if there would be no place; returns the payer as last read. */
const findPlace = Effect.fnUntraced(function* (
  reserving: Reserving,
  seen: PayerEntry
): Effect.fn.Return<PayerEntry, Refusal> {
  const { checked, lookingAgain } = reserving
  const found = yield* foreseePlace(reserving, recordOf(checked, seen))
  const key = payerKeyOf(checked.network, checked.payer)
  // One call per payer waits: a flood of calls is refused as fast as it arrives.
  if (found._tag === "Unpaid" && !lookingAgain.has(key)) {
    lookingAgain.add(key)
    return yield* Effect.ensuring(
      lookAgain(reserving, seen, found),
      Effect.sync(() => lookingAgain.delete(key))
    )
  }
  yield* refuseWithoutPlace(checked, found)
  return seen
})

// A settlement is recorded within milliseconds; on a busy machine, within a few hundred.
const recordedAfterMs = [50, 250]

/** A caller learns of its settlement before it is recorded, and may call again at once. */
const lookAgain = Effect.fnUntraced(function* (
  reserving: Reserving,
  seen: PayerEntry,
  unpaid: PlaceTaken
): Effect.fn.Return<PayerEntry, Refusal> {
  const { checked, payers } = reserving
  let [entry, found] = [seen, unpaid]
  for (const pauseMs of recordedAfterMs) {
    // A debt is not forgotten that soon.
    if (found._tag !== "Unpaid" || recordOf(checked, entry).places.length === 0) break
    yield* Effect.sleep(pauseMs)
    entry = yield* payers.read(checked)
    found = yield* foreseePlace(reserving, recordOf(checked, entry))
  }
  yield* refuseWithoutPlace(checked, found)
  return entry
})

/** Whether there would be a place. All other payers are read only for a payer that has paid too little. */
const foreseePlace = Effect.fnUntraced(function* (
  reserving: Reserving,
  record: PayerRecord
): Effect.fn.Return<PlaceTaken, BusError> {
  const { newPayers, place } = reserving
  const nowMs = yield* Clock.currentTimeMillis
  const terms = termsOf(reserving, nowMs)
  const unbounded = withPlace(record, place, terms && { ...terms, hasRoom: () => true })
  if (unbounded._tag !== "Taken" || unbounded.beyond === 0) return unbounded
  yield* newPayers.look
  return withPlace(record, place, terms)
})

/** If a place cannot be returned now, the sweep returns it. */
const giveBack = ({ payers, checked, place }: Reserving) =>
  Effect.ignore(payers.change(checked, (payer) => withoutPlace(payer, place.claimKey, place.ticket)))

/** Another claim's money is, or was a moment ago, in the wallet that the simulation read. */
const needsFunds = (record: PayerRecord, place: Place, nowMs: number) =>
  hasSettledLately(record, nowMs) || placesBefore(record, place).size > 0

const seeFunds = (
  { readFunds, place }: Reserving,
  record: PayerRecord
): Effect.Effect<Seen | undefined, ChainUnavailable> =>
  readFunds === null
    ? Effect.undefined
    : Effect.map(readFunds([...placesBefore(record, place).keys()]), (funds) => ({
        funds,
        settledLast: record.settledLast
      }))

// A chain that does not report which payments it has made is asked again: a transfer is recorded within a second.
const pausesMs = [0, 100, 300, 600]

/** Of a place that needs funds. */
const covered = Effect.fnUntraced(function* (
  reserving: Reserving,
  first: PayerRecord,
  earlier: Seen | undefined
): Effect.fn.Return<Seen | undefined, Refusal> {
  const { checked, payers, place, readFunds } = reserving
  if (readFunds === null) return earlier
  let record = first
  // The balance was read after a different settlement than the record's last.
  let seen = earlier?.settledLast === record.settledLast ? earlier : yield* seeFunds(reserving, record)
  for (const pauseMs of pausesMs) {
    if (seen !== undefined && seen.funds.balance >= amountNeeded(record, place, seen.funds)) return seen
    // As of one block, each payment is either still in the wallet or has left it, so only a later change can help.
    if (pauseMs > 0 && seen?.funds.spent !== null) break
    yield* Effect.sleep(pauseMs)
    record = recordOf(checked, yield* payers.read(checked))
    seen = yield* seeFunds(reserving, record)
  }
  if (seen !== undefined && seen.funds.balance >= amountNeeded(record, place, seen.funds)) return seen
  const isUnfunded = seen !== undefined && seen.funds.balance < BigInt(place.amount ?? "0")
  return yield* refused(checked, isUnfunded ? "unfunded" : "exposure")
})

const refuseWithoutPlace = (checked: CheckedPayment, found: PlaceTaken): Effect.Effect<void, ClaimRefused> => {
  switch (found._tag) {
    case "Taken":
    case "Held":
      return Effect.void
    case "Denied":
      return Effect.fail(refused(checked, "denied"))
    case "Full":
      return Effect.fail(refused(checked, "exposure"))
    case "Unpaid":
      return Effect.fail(refused(checked, "unpaid", { retryAfterSeconds: found.retryAfterSeconds }))
    case "Crowded":
      return Effect.fail(refused(checked, "newcomers", { retryAfterSeconds: crowdedSeconds }))
  }
}

// By then the sweep has counted what was paid in the meantime.
const crowdedSeconds = 3

const refused = (
  { claimKey, payer }: CheckedPayment,
  why: ClaimRefused["why"],
  more: Pick<ClaimRefused, "holder" | "retryAfterSeconds"> = {}
) => new ClaimRefused({ why, claimKey, payer, ...more })
