/** One payment on its way to its end: what is known of it at the start, and what came of a try. Pure. */
import type { Effect } from "effect"
import type { BusError } from "#bus"
import type { PaymentCode, SettlementOutcome } from "#contracts"
import type { ChainUnavailable, CheckedPayment, Claim, ClaimLost, PaymentScheme } from "#x402"
import type { SignerPool } from "./signer-pool.ts"

/** `Ended`: recorded, never again. `Stale`: not to be settled, or not yet. `Later`: what is known by now, and look again. */
export type Settling =
  | {
      readonly _tag: "Ended"
      readonly outcome: SettlementOutcome
      readonly how: "settled" | "withheld" | "uncollected"
    }
  | { readonly _tag: "Stale" }
  | { readonly _tag: "Later"; readonly outcome: SettlementOutcome; readonly detail: string }

export type Faults = ChainUnavailable | BusError | ClaimLost

/** Told when the chain has the transfer, before that is written down: who waits does not wait for the receipt. */
export type OnSettled = (transaction: string) => Effect.Effect<void>

export interface Work {
  readonly claim: Claim
  readonly payment: CheckedPayment
  readonly scheme: PaymentScheme
  readonly pool: SignerPool
  /** Somebody else sends, and what they have sent is in no claim. */
  readonly isRemote: boolean
  /** The claim is assumed to be as a job says; what makes it SETTLING is our own first write. */
  readonly isAssumed: boolean
  /** The newest that was signed for it. */
  readonly transaction: string | null
  readonly onSettled: OnSettled
  /** Comes before the first write. */
  readonly answerKept: Effect.Effect<void, BusError>
}

export const stale: Settling = { _tag: "Stale" }

export const ended = (how: "settled" | "withheld" | "uncollected", outcome: SettlementOutcome): Settling => ({
  _tag: "Ended",
  how,
  outcome
})

export const refusedFor = (reason: string, code: PaymentCode = "PAYMENT_INVALID"): SettlementOutcome => ({
  _tag: "Refused",
  code,
  reason: reason.slice(0, 256)
})

export const later = (transaction: string | null, detail: string): Settling => ({
  _tag: "Later",
  outcome: { _tag: "Pending", transaction },
  detail
})

/** Of a claim that is not to be settled any more, or not yet. */
export const endOf = ({ record }: Claim): Settling | undefined => {
  const transaction = record.transactions.at(-1)
  if (record.state === "SETTLED" && transaction !== undefined) return ended("settled", { _tag: "Settled", transaction })
  if (record.state === "UNCOLLECTED") return ended("uncollected", refusedFor(record.reason ?? "uncollected"))
  return record.state === "SETTLING" ? undefined : stale
}
