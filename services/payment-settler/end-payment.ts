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
import type { Ledger } from "./Ledger.ts"
import { ended, type Faults, later, refusedFor, type Settling, type Work } from "./settling.ts"

export interface Books {
  readonly claims: Claims["Service"]
  readonly ledger: Ledger["Service"]
}

/** `mayExist`: somebody may have written its receipt before. */
export const endSettled = Effect.fnUntraced(function* (
  { claims, ledger }: Books,
  { claim, onSettled }: Work,
  transaction: string,
  mayExist: boolean
): Effect.fn.Return<Settling, Faults> {
  yield* onSettled(transaction)
  // Who waits goes on before the books are written, also in this very process.
  yield* Effect.yieldNow
  yield* ledger.write(claim, { outcome: "settled", transaction, reason: null }, mayExist)
  yield* claims.move(claim, ClaimMove.Settled({ transaction }))
  return ended("settled", { _tag: "Settled", transaction })
})

/** What the chain says of it is an end; undefined when it is still to be had. `reason`: why, if it cannot be had. */
export const endAsTold = (
  books: Books,
  work: Work,
  standing: ChainStanding,
  reason: { readonly spent: string; readonly expired: string }
): Effect.Effect<Settling, Faults> | undefined => {
  switch (standing._tag) {
    case "Settled":
      return endSettled(books, work, standing.transaction, true)
    case "Spent":
      return endLost(books, work, reason.spent, true)
    case "Expired":
      return endLost(books, work, reason.expired, false)
    case "Undecided":
      return Effect.succeed(later(work.transaction, standing.detail))
    case "Unused":
      return undefined
  }
}

/** The chain can make no transfer any more: whoever has an answer has not paid for it. */
const endLost = Effect.fnUntraced(function* (
  { claims, ledger }: Books,
  { claim, transaction }: Work,
  reason: string,
  isPayersDoing: boolean
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
  books: Books,
  work: Work,
  refusal: PaymentRefused | SettlementRefused
): Effect.fn.Return<Settling, Faults> {
  const { claims, ledger } = books
  const { code, reason } = refusal
  const standing = yield* work.scheme.look(work.payment, work.transaction)
  const told = endAsTold(books, work, standing, { spent: reason, expired: reason })
  if (told !== undefined) return yield* told
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
