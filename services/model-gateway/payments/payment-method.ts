/**
 * A way to pay for a call: five steps with a payment of its kind. `PaidCalls` says when each is taken, measures what is
 * charged, and answers for what fails; a way to pay knows only where its payments are kept.
 */
import { Data, type Effect } from "effect"
import type { BusError } from "#bus"
import type { ChannelRefused, ClaimLost, Quote } from "#payments"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import type { signedAndCharged } from "../metrics.ts"
import type { PayableCall } from "./quote.ts"
import type { PaymentRefusal } from "./replies.ts"

/** A payment that fits its call's quote, as far as the gateway can tell alone. */
export interface OfferedPayment {
  readonly call: PayableCall
  readonly quote: Quote
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
  /** The client's name for the call. */
  readonly identifier: string | null
  /** The request, by its hash. */
  readonly binding: string
}

/** A payment that is taken for one call. */
export interface Payment {
  readonly call: Pick<PayableCall, "kind" | "model" | "shape" | "prices" | "prompt" | "count">
  /** By which it is counted. */
  readonly scheme: (typeof signedAndCharged.values.scheme)[number]
  /** Digits of its unit after the point; the unit is worth a dollar. */
  readonly decimals: number
  /** The most that its payer has agreed to, in the smallest unit. */
  readonly ceiling: bigint
  /** Whether the charge follows the use; otherwise it is the ceiling. */
  readonly isMetered: boolean
  /** The last moment at which it can surely be charged, for one that has an end. */
  readonly endsAtMs?: number
  /** Of one that is not stored yet: it is renewed within so long, which stores it, or its call is broken off. */
  readonly storedWithinMs?: number
}

/** What a call's end says of its charge. */
export interface ChargedAnswer {
  readonly charge: bigint
  /** What the provider takes for it, in the unit of the charge; null where that is not known. */
  readonly cost: bigint | null
  /** A whole answer, to be kept until it is paid for; null after a stream. */
  readonly body: Uint8Array | null
}

export interface ChargedPayment {
  /** Whether the money is surely ours by now. */
  readonly outcome: "settled" | "pending"
  /** The receipt, or a note that there is none yet. */
  readonly headers: Readonly<Record<string, string>>
}

/** Another process has moved the payment: it is not this call's any more. */
export class PaymentLost extends Data.TaggedClass("PaymentLost")<{
  readonly cause: ClaimLost | ChannelRefused
  /** What the caller of a payment that was never stored is answered; of such a one there is nothing to release. */
  readonly refusal: Effect.Effect<PaymentRefusal> | null
}> {}

export type NotMoved = PaymentLost | BusError

/** Its steps are methods, not fields: `PaidCalls` keeps each payment beside the method that took it. */
export interface PaymentMethod<Offered, Taken extends Payment> {
  /** Takes the payment for one call, until its lease ends. Nothing is asked of a provider before. */
  take(offered: Offered): Effect.Effect<Taken, PaymentRefusal>
  /** Keeps the lease from ending, and notes what is charged should this process die. */
  renew(payment: Taken, charge: bigint): Effect.Effect<void, NotMoved>
  /** From here on the payment is charged when its lease ends, as noted last. */
  serve(payment: Taken, charge: bigint): Effect.Effect<void, NotMoved>
  /**
   * Asks for the charge. Fails only where nothing is charged and the payment can be released; from then on it is never
   * given back. What it succeeds with waits for the outcome.
   */
  charge(payment: Taken, answer: ChargedAnswer): Effect.Effect<Effect.Effect<ChargedPayment, PaymentRefusal>, NotMoved>
  /** Gives the payment back uncharged. `isPayersDoing`: its caller has left a provider at work for it. */
  release(payment: Taken, isPayersDoing: boolean): Effect.Effect<void, NotMoved>
  /** Answered to the caller of a call whose charge could not be asked for. */
  readonly uncharged: string
}
