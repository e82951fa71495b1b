/**
 * Takes one payment to its end: its transaction is signed and sent, and the chain's result is recorded.
 *
 * The transaction's name is written into the claim before it is sent. Only one settler can make that write, which makes
 * the claim SETTLING if it is not yet. In parallel the chain is asked once more whether the transfer would succeed. The
 * transaction is sent only when both succeed. The key's lease is ended whatever happens in between.
 *
 * A caller that waits for the settlement is informed first; then the receipt is written, then the claim is ended, so
 * that a claim that has ended has its receipt. After a crash in between, the job or the sweep brings the claim to
 * another settler, which finds the same end.
 */
import { Duration, Effect, Fiber, Result } from "effect"
import type { BusError } from "#bus"
import type { PaymentCode, SettlementOutcome } from "#payments/contract"
import {
  type ChainStatus,
  ChainUnavailable,
  type CheckedPayment,
  type Claim,
  type ClaimLost,
  ClaimMove,
  Claims,
  isGivenOut,
  type PaymentRefused,
  type PaymentScheme,
  type PreparedSettlement,
  type SettlementRefused
} from "#payments"
import { Ledger } from "./ledger.ts"
import type { SignerLease, SignerPool } from "./signer-pool.ts"

/**
 * `Ended`: recorded, never again. `Superseded`: not to be settled, or not yet. `Undecided`: the current knowledge;
 * check again.
 */
export type Settling =
  | {
      readonly _tag: "Ended"
      readonly outcome: SettlementOutcome
      readonly how: "settled" | "withheld" | "uncollected"
    }
  | { readonly _tag: "Superseded" }
  | { readonly _tag: "Undecided"; readonly outcome: SettlementOutcome; readonly detail: string }

export type Faults = ChainUnavailable | BusError | ClaimLost

/** Called when the chain has the transfer, before that is recorded: the caller does not wait for the receipt. */
export type OnSettled = (transaction: string | null) => Effect.Effect<void>

export interface Work {
  readonly claim: Claim
  readonly payment: CheckedPayment
  readonly scheme: PaymentScheme
  readonly pool: SignerPool
  /** A facilitator sends, and its transactions are not in any claim. */
  readonly isRemote: boolean
  /** The newest transaction signed for it. */
  readonly transaction: string | null
  readonly onSettled: OnSettled
  /** Runs before the first write. */
  readonly answerKept: Effect.Effect<void, BusError>
}

export const superseded: Settling = { _tag: "Superseded" }

const ended = (how: "settled" | "withheld" | "uncollected", outcome: SettlementOutcome): Settling => ({
  _tag: "Ended",
  how,
  outcome
})

const refusedFor = (reason: string, code: PaymentCode = "PAYMENT_INVALID"): SettlementOutcome => ({
  _tag: "Refused",
  code,
  reason: reason.slice(0, 256)
})

export const undecided = (transaction: string | null, detail: string): Settling => ({
  _tag: "Undecided",
  outcome: { _tag: "Pending", transaction },
  detail
})

/** The result for a claim that is no longer to be settled, or not yet. */
export const endOf = ({ record }: Claim): Settling | undefined => {
  const transaction = record.transactions.at(-1)
  if (record.state === "SETTLED") return ended("settled", { _tag: "Settled", transaction: transaction ?? null })
  if (record.state === "UNCOLLECTED") return ended("uncollected", refusedFor(record.reason ?? "uncollected"))
  return record.state === "SETTLING" ? undefined : superseded
}

type Ending = Effect.Effect<Settling, Faults, Claims | Ledger>

export const signAndSend = (work: Work): Ending => {
  const sending = Effect.uninterruptibleMask((restore) => underLease(work, restore))
  const { prerequisite } = work.scheme
  return prerequisite === undefined ? sending : Effect.andThen(meetPrerequisite(work, prerequisite), sending)
}

/** A wallet that its first payment deploys must exist before the payment. Not interruptible, to protect its lease. */
const meetPrerequisite = Effect.fnUntraced(
  function* (
    { payment, pool, answerKept }: Work,
    prerequisite: NonNullable<PaymentScheme["prerequisite"]>
  ): Effect.fn.Return<void, ChainUnavailable | BusError> {
    if (!(yield* prerequisite.isNeeded(payment))) return
    yield* answerKept
    const key = yield* pool.take(payment)
    const prepared = yield* Effect.onError(prerequisite.prepare(payment, key.lease), () => key.end("unsent"))
    const sent = yield* Effect.result(prerequisite.broadcast(prepared))
    if (Result.isSuccess(sent)) return yield* key.end("used")
    const { failure } = sent
    yield* key.end(failure._tag === "ChainUnavailable" ? "unsent" : "unknown")
    if (failure._tag === "ChainUnavailable") return yield* failure
    return yield* new ChainUnavailable({ operation: "deploy a payer's wallet", detail: failure.detail })
  },
  (laying) => Effect.uninterruptible(laying)
)

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const underLease = Effect.fnUntraced(function* (
  work: Work,
  restore: Restore
): Effect.fn.Return<Settling, Faults, Claims | Ledger> {
  // The chain is asked first, because it takes the longest; a nonce is taken last, because others wait behind it.
  const recheck = Effect.interruptible(work.scheme.recheck(work.payment))
  const rechecking = yield* Effect.forkChild(recheck, { startImmediately: true })
  const unasked = Fiber.interrupt(rechecking)
  // Not interruptible: a nonce that is taken but not yet leased would be lost, and would block all later ones.
  const taking = Effect.andThen(restore(work.answerKept), work.pool.take(work.payment))
  const key = yield* Effect.onError(taking, () => unasked)
  const unsent = Effect.andThen(unasked, key.end("unsent"))
  const { sending, prepared } = yield* Effect.onError(restore(signed(work, key)), () => unsent)
  const rechecked = yield* Effect.onInterrupt(restore(Effect.result(Fiber.join(rechecking))), () => unsent)
  if (Result.isSuccess(rechecked)) return yield* restore(send(sending, { prepared, key }))
  yield* key.end("unsent")
  const error = rechecked.failure
  return error._tag === "PaymentRefused" ? yield* restore(endRefused(sending, error)) : yield* error
})

const signed = (work: Work, key: SignerLease) =>
  Effect.flatMap(work.scheme.prepare(work.payment, key.lease), (prepared) =>
    Effect.map(written(work, prepared), (sending) => ({ sending, prepared }))
  )

const written = Effect.fnUntraced(function* (work: Work, { transaction }: PreparedSettlement) {
  if (transaction === null) return work
  const claim = yield* (yield* Claims).move(work.claim, ClaimMove.Prepare({ transaction }))
  return { ...work, claim, transaction }
})

// Half of the time for which the broker remembers a receipt's id. A settler that waits longer for the chain may have
// been presumed dead, and another settler may have written the receipt.
const rememberedFor = Duration.minutes(1)

const send = Effect.fnUntraced(function* (
  work: Work,
  { prepared, key: { end } }: { readonly prepared: PreparedSettlement; readonly key: SignerLease }
): Effect.fn.Return<Settling, Faults, Claims | Ledger> {
  const [took, result] = yield* Effect.timed(
    Effect.result(Effect.onInterrupt(work.scheme.broadcast(prepared, work.payment), () => end("unknown")))
  )
  if (Result.isSuccess(result)) {
    yield* end("used")
    const mayExist = Duration.isGreaterThan(took, rememberedFor)
    return yield* endSettled(work, { transaction: result.success.transaction, mayExist })
  }
  const error = result.failure
  if (error._tag === "SettlementPending") {
    yield* end("unknown")
    return undecided(error.transaction ?? work.transaction, error.detail)
  }
  if (error._tag === "ChainUnavailable") {
    yield* end("unsent")
    return undecided(work.transaction, error.message)
  }
  yield* end(error.transaction === null ? "unsent" : "used")
  return yield* endRefused(work, error)
})

interface Transferred {
  readonly transaction: string | null
  /** Another settler may already have written its receipt. */
  readonly mayExist: boolean
}

const endSettled = Effect.fnUntraced(function* (
  { claim, onSettled }: Work,
  { transaction, mayExist }: Transferred
): Effect.fn.Return<Settling, Faults, Claims | Ledger> {
  yield* onSettled(transaction)
  // The waiting caller continues before anything is written, even in this process.
  yield* Effect.yieldNow
  yield* (yield* Ledger).write(claim, { outcome: "settled", transaction, reason: null }, mayExist)
  yield* (yield* Claims).move(claim, ClaimMove.Settled({ transaction }))
  return ended("settled", { _tag: "Settled", transaction })
})

/** Nothing is to be charged: the payment is consumed without a transaction. */
export const endUncharged = Effect.fnUntraced(function* (
  work: Work
): Effect.fn.Return<Settling, Faults, Claims | Ledger> {
  yield* work.answerKept
  // A claim that was released in the meantime fails here, before a receipt is written.
  const claim = yield* (yield* Claims).move(work.claim, ClaimMove.Prepare({ transaction: null }))
  return yield* endSettled({ ...work, claim }, { transaction: null, mayExist: true })
})

interface Seen {
  readonly status: ChainStatus
  /** The reasons that apply when the transfer can no longer be made. */
  readonly reason: { readonly spent: string; readonly expired: string }
}

/** The end implied by the chain's answer; undefined while the transfer can still be made. */
export const endAsSeen = (work: Work, { status, reason }: Seen): Ending | undefined => {
  switch (status._tag) {
    case "Settled":
      return endSettled(work, { transaction: status.transaction, mayExist: true })
    case "Spent":
      return endLost(work, { reason: reason.spent, isPayersDoing: true })
    case "Expired":
      return endLost(work, { reason: reason.expired, isPayersDoing: false })
    case "Undecided":
      return Effect.succeed(undecided(work.transaction, status.detail))
    case "Unused":
      return undefined
  }
}

/** The chain can no longer make a transfer: a payer that has the answer has not paid for it. */
const endLost = Effect.fnUntraced(function* (
  { claim, transaction }: Work,
  { reason, isPayersDoing }: { readonly reason: string; readonly isPayersDoing: boolean }
): Effect.fn.Return<Settling, Faults, Claims | Ledger> {
  const claims = yield* Claims
  const isGivenOut = yield* hasAnswer(claim)
  yield* (yield* Ledger).write(claim, { outcome: "uncollected", transaction, reason }, true)
  const how = isGivenOut || isPayersDoing ? "uncollected" : "withheld"
  yield* how === "uncollected"
    ? claims.move(claim, ClaimMove.Uncollected({ reason }))
    : claims.move(claim, ClaimMove.Withheld({ reason, isPayersDoing: false }))
  return ended(how, refusedFor(reason))
})

/**
 * The chain would refuse the transfer now. If the answer was sent, settlement is retried until the payment expires;
 * otherwise the claim is released.
 */
const endRefused = Effect.fnUntraced(function* (
  work: Work,
  refusal: PaymentRefused | SettlementRefused
): Effect.fn.Return<Settling, Faults, Claims | Ledger> {
  const { code, reason } = refusal
  const status = yield* work.scheme.look(work.payment, work.transaction)
  const end = endAsSeen(work, { status, reason: { spent: reason, expired: reason } })
  if (end !== undefined) return yield* end
  if (yield* hasAnswer(work.claim)) return undecided(work.transaction, refusal.message)
  yield* (yield* Ledger).write(work.claim, { outcome: "uncollected", transaction: null, reason }, true)
  yield* (yield* Claims).move(work.claim, ClaimMove.Withheld({ reason, isPayersDoing: true }))
  return ended("withheld", refusedFor(reason, code))
})

/** Whether the payer has, or is receiving, the answer that this payment is for. */
const hasAnswer = Effect.fnUntraced(function* ({ key, record }: Claim) {
  if (record.kind === "stream") return true
  const payer = yield* (yield* Claims).payer(record)
  return payer._tag === "Some" && isGivenOut(payer.value, key)
})
