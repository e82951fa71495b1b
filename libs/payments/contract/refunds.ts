/**
 * Refunds of payments, as operators order them and settlers make them: money returned to a payer's account by its own
 * transfer. All refunds of one payment are one record, so that together they never exceed it.
 */
import { Schema } from "effect"
import { Count, EpochMs, text } from "#base"
import { Receipt } from "./messages.ts"
import { AtomicAmount, ClaimKey, EvmAddress, TransactionId } from "./primitives.ts"

/** The operator's name for a refund: the same one, sent again, is the same refund. */
export const RefundKey = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/u))

/** `ordered`: its transfer is not known to be made, and can be at any time. `failed`: it never will be. */
export const refundStates = ["ordered", "made", "failed"] as const

/** Per payment. An operator who needs more refunds larger parts. */
export const refundsMax = 16

export const Refund = Schema.Struct({
  key: RefundKey,
  amount: AtomicAmount,
  reason: text(500),
  /** The operator's token. */
  by: text(256),
  orderedAtMs: EpochMs,
  state: Schema.Literals(refundStates),
  /** The account that sends it. */
  from: EvmAddress,
  /** The nonce of its transfer authorization, which the token accepts once: drawn before anything is signed. */
  nonce: Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{64}$/u)),
  /** Epoch seconds; after that the token no longer accepts it. */
  validBefore: Count,
  /** The newest transaction signed for it; for a refund that is made, the one that made it. */
  transaction: Schema.NullOr(TransactionId),
  endedAtMs: Schema.NullOr(EpochMs),
  /** Why it failed. */
  fault: Schema.NullOr(text(500))
})
export interface Refund extends Schema.Schema.Type<typeof Refund> {}

/** A payment with its refunds, by the key of its claim. */
export const RefundedPayment = Schema.Struct({
  receipt: Receipt,
  refunds: Schema.Array(Refund).check(Schema.isMaxLength(refundsMax))
})
export interface RefundedPayment extends Schema.Schema.Type<typeof RefundedPayment> {}

/** `sequence`: of the payment's receipt. Without an amount, all that is left of the payment is refunded. */
export const RefundOrder = Schema.Struct({
  sequence: Count,
  claimKey: ClaimKey,
  key: RefundKey,
  amount: Schema.NullOr(AtomicAmount),
  reason: text(500),
  by: text(256)
})
export interface RefundOrder extends Schema.Schema.Type<typeof RefundOrder> {}

export const RefundAnswer = Schema.Union([
  Schema.TaggedStruct("Done", { refund: Refund }),
  /** Asking again changes nothing. */
  Schema.TaggedStruct("Refused", { why: text(1_000) }),
  /** Nothing was ordered: the broker does not answer, or there are many concurrent writes. */
  Schema.TaggedStruct("Later", { why: text(1_000) })
])
export type RefundAnswer = Schema.Schema.Type<typeof RefundAnswer>
