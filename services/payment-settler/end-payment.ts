/**
 * The ends of a payment, as the chain tells them. Whoever waits for a settled one is told first; then the receipt is
 * written, then the claim is ended, so that a claim that has ended has its receipt. Who crashes in between leaves the
 * job, and the next one finds the same end.
 */
import { Effect } from "effect"
import {
  ClaimMove,
  type ChainStanding,
  type Claim,
  type Claims,
  isGivenOut,
  type PaymentRefused,
  type SettlementRefused
} from "#x402"
import type { Ledger } from "./ledger.ts"
import { ended, type Faults, later, refusedFor, type Settling, type Work } from "./settling.ts"

export interface Records {
  readonly claims: Claims["Service"]
  readonly ledger: Ledger["Service"]
}

interface Transferred {
  readonly transaction: string
  /** Somebody may have written its receipt before. */
  readonly mayExist: boolean
}

export const endSettled = Effect.fnUntraced(function* (
  { claims, ledger }: Records,
  { claim, onSettled }: Work,
  { transaction, mayExist }: Transferred
): Effect.fn.Return<Settling, Faults> {
  yield* onSettled(transaction)
  // Who waits goes on before anything is written, also in this very process.
  yield* Effect.yieldNow
  yield* ledger.write(claim, { outcome: "settled", transaction, reason: null }, mayExist)
  yield* claims.move(claim, ClaimMove.Settled({ transaction }))
  return ended("settled", { _tag: "Settled", transaction })
})

interface Seen {
  readonly standing: ChainStanding
  /** Why the transfer cannot be had any more, if so. */
  readonly reason: { readonly spent: string; readonly expired: string }
}

/** What the chain says of it is an end; undefined when the transfer is still to be had. */
export const endAsSeen = (
  records: Records,
  work: Work,
  { standing, reason }: Seen
): Effect.Effect<Settling, Faults> | undefined => {
  switch (standing._tag) {
    case "Settled":
      return endSettled(records, work, { transaction: standing.transaction, mayExist: true })
    case "Spent":
      return endLost(records, work, { reason: reason.spent, isPayersDoing: true })
    case "Expired":
      return endLost(records, work, { reason: reason.expired, isPayersDoing: false })
    case "Undecided":
      return Effect.succeed(later(work.transaction, standing.detail))
    case "Unused":
      return undefined
  }
}

/** The chain can make no transfer any more: whoever has an answer has not paid for it. */
const endLost = Effect.fnUntraced(function* (
  { claims, ledger }: Records,
  { claim, transaction }: Work,
  { reason, isPayersDoing }: { readonly reason: string; readonly isPayersDoing: boolean }
): Effect.fn.Return<Settling, Faults> {
  const isGivenOut = yield* hasAnswer(claims, claim)
  yield* ledger.write(claim, { outcome: "uncollected", transaction, reason }, true)
  const how = isGivenOut || isPayersDoing ? "uncollected" : "withheld"
  yield* how === "uncollected"
    ? claims.move(claim, ClaimMove.Uncollected({ reason }))
    : claims.move(claim, ClaimMove.Withheld({ reason }))
  return ended(how, refusedFor(reason))
})

/** The chain would refuse it now. What was given out is tried for until its time is over; what was not is let go. */
export const endRefused = Effect.fnUntraced(function* (
  records: Records,
  work: Work,
  refusal: PaymentRefused | SettlementRefused
): Effect.fn.Return<Settling, Faults> {
  const { claims, ledger } = records
  const { code, reason } = refusal
  const standing = yield* work.scheme.look(work.payment, work.transaction)
  const end = endAsSeen(records, work, { standing, reason: { spent: reason, expired: reason } })
  if (end !== undefined) return yield* end
  if (yield* hasAnswer(claims, work.claim)) return later(work.transaction, refusal.message)
  yield* ledger.write(work.claim, { outcome: "uncollected", transaction: null, reason }, true)
  yield* claims.move(work.claim, ClaimMove.Withheld({ reason }))
  return ended("withheld", refusedFor(reason, code))
})

/** Whether the payer has, or is getting, what this payment is for. */
const hasAnswer = Effect.fnUntraced(function* (claims: Claims["Service"], { key, record }: Claim) {
  if (record.kind === "stream") return true
  const payer = yield* claims.payer(record)
  return payer._tag === "Some" && isGivenOut(payer.value, key)
})
