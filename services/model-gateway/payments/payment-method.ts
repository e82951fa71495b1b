/**
 * A payment method for a call: five steps with its kind of payment. `PaidCalls` decides when each is taken, measures
 * the charge, and handles failures; a payment method knows only where its payments are stored.
 */
import { Data, type Effect } from "effect"
import type { BusError } from "#bus"
import type { ChannelRefused, ClaimLost, Quote } from "#payments"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import type { signedAndCharged } from "../metrics.ts"
import type { PayableCall } from "./quote.ts"
import type { PaymentRefusal } from "./replies.ts"

/** A payment that matches its call's quote, as far as the gateway alone can tell. */
export interface OfferedPayment {
  readonly call: PayableCall
  readonly quote: Quote
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
  /** The client's name for the call. */
  readonly identifier: string | null
  /** The request's hash. */
  readonly binding: string
}

/** A payment that is taken for one call. */
export interface Payment {
  readonly call: Pick<PayableCall, "kind" | "model" | "shape" | "prices" | "prompt" | "count">
  /** The label by which it is counted. */
  readonly scheme: (typeof signedAndCharged.values.scheme)[number]
  /** Decimals of its unit; the unit is worth a dollar. */
  readonly decimals: number
  /** The maximum that its payer has agreed to, in the smallest unit. */
  readonly ceiling: bigint
  /** Whether the charge follows the use; otherwise it is the ceiling. */
  readonly isMetered: boolean
  /** The last moment at which it can surely be charged, if it has an end. */
  readonly endsAtMs?: number
  /** For a payment that is not stored yet: it is renewed within this time, which stores it, or its call is aborted. */
  readonly storedWithinMs?: number
}

/** What a call's end determines about its charge. */
export interface ChargedAnswer {
  readonly charge: bigint
  /** The provider's cost, in the unit of the charge; null if unknown. */
  readonly cost: bigint | null
  /** A complete answer, to be stored until it is paid for; null after a stream. */
  readonly body: Uint8Array | null
}

export interface ChargedPayment {
  /** Whether the money is surely ours by now. */
  readonly outcome: "settled" | "pending"
  /** The receipt, or a note that there is none yet. */
  readonly headers: Readonly<Record<string, string>>
}

/** Another process has moved the payment: it no longer belongs to this call. */
export class PaymentLost extends Data.TaggedClass("PaymentLost")<{
  readonly cause: ClaimLost | ChannelRefused
  /** The answer to the caller of a payment that was never stored; such a payment needs no release. */
  readonly refusal: Effect.Effect<PaymentRefusal> | null
}> {}

export type NotMoved = PaymentLost | BusError

/** Its steps are methods, not fields: `PaidCalls` keeps each payment with the method that took it. */
export interface PaymentMethod<Offered, Taken extends Payment> {
  /** Takes the payment for one call, until its lease expires. No provider is called before that. */
  take(offered: Offered): Effect.Effect<Taken, PaymentRefusal>
  /** Keeps the lease from expiring, and records the charge in case this process dies. */
  renew(payment: Taken, charge: bigint): Effect.Effect<void, NotMoved>
  /** From here on the payment is charged when its lease expires, as last recorded. */
  serve(payment: Taken, charge: bigint): Effect.Effect<void, NotMoved>
  /**
   * Requests the charge. Fails only if nothing is charged and the payment can be released; after that it is never
   * released. The effect it returns waits for the outcome.
   */
  charge(payment: Taken, answer: ChargedAnswer): Effect.Effect<Effect.Effect<ChargedPayment, PaymentRefusal>, NotMoved>
  /** Releases the payment uncharged. `isPayersDoing`: its caller left while a provider was working for it. */
  release(payment: Taken, isPayersDoing: boolean): Effect.Effect<void, NotMoved>
  /** The answer to the caller of a call whose charge could not be requested. */
  readonly uncharged: string
}
