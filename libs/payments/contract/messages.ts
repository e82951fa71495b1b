/**
 * The payment messages between roles. On `payments.verify` the gateway asks whether a call is paid for, and a verifier
 * claims the payment for it; a settlement job brings the payment to the chain; a receipt records how it ended.
 */
import { Schema } from "effect"
import { Count, EpochMs, text } from "#base"
import {
  AtomicAmount,
  ChainAddress,
  ClaimKey,
  InstanceName,
  Network,
  ReasonText,
  Sha256Hex,
  TransactionId
} from "./primitives.ts"
import { ChannelId } from "./channels.ts"
import { PaymentPayload, PaymentRequirements, signedSchemes } from "./x402.ts"

export const paymentCodes = [
  "PAYMENT_INVALID",
  "PAYMENT_UNFUNDED",
  "PAYMENT_BLOCKHASH_STALE",
  "PAYMENT_REPLAY",
  "PERMIT2_ALLOWANCE_REQUIRED"
] as const

/**
 * Why a payment is refused. The code tells a client what to do: sign again, pay more, take a newer blockhash or a fresh
 * nonce, approve Permit2 once.
 */
export const PaymentCode = Schema.Literals(paymentCodes)
export type PaymentCode = (typeof paymentCodes)[number]

/** How the answer is sent: whole after the payment, or as a stream that is paid for at its end. */
export const AnswerKind = Schema.Literals(["whole", "stream"])
export type AnswerKind = Schema.Schema.Type<typeof AnswerKind>

/** The call that a payment is claimed for. */
const call = {
  /** SHA-256 over method, path and body. */
  binding: Sha256Hex,
  kind: AnswerKind,
  /** The gateway instance. */
  holder: InstanceName,
  /** Drawn once for this call: a repeat with the same ticket is the same question and does not collide with itself. */
  ticket: InstanceName,
  /** The model that is called. Absent if another operator's server has the payment settled. */
  model: Schema.optionalKey(text(256))
}

export const VerifyRequest = Schema.Struct({ payload: PaymentPayload, requirements: PaymentRequirements, ...call })
export interface VerifyRequest extends Schema.Schema.Type<typeof VerifyRequest> {}

/**
 * A claim as last written, without the payment itself, which the receiver already has: enough to move the claim without
 * reading it. The next write names `revision`, and fails if another write came first.
 */
export const ClaimFacts = Schema.Struct({
  ...call,
  revision: Count,
  network: Network,
  asset: ChainAddress,
  payer: ChainAddress,
  payTo: ChainAddress,
  /** The signed amount. */
  amount: AtomicAmount,
  /** The part of it that is charged, if that can be less. */
  charge: Schema.optionalKey(AtomicAmount),
  /** The number of writes in this life of the claim, which begins whenever a call takes it. */
  moves: Count,
  validBeforeMs: EpochMs,
  claimedAtMs: EpochMs,
  /** What the call's provider charged, in the units of `amount`; only in a job, and only if known. */
  providerCost: Schema.optionalKey(AtomicAmount)
})
export interface ClaimFacts extends Schema.Schema.Type<typeof ClaimFacts> {}

export const VerifyAnswer = Schema.Union([
  /** The payment is valid and claimed for this call. */
  Schema.TaggedStruct("Verified", { claimKey: ClaimKey, claim: ClaimFacts }),
  Schema.TaggedStruct("Refused", {
    code: PaymentCode,
    reason: ReasonText,
    payer: Schema.NullOr(ChainAddress),
    detail: Schema.optionalKey(text(1_024)),
    /** The claim that makes the payment a replay. A payer that asks again for a lost answer can be sent that answer. */
    claimKey: Schema.optionalKey(ClaimKey),
    /** The holder of that claim: a gateway that may have died with the answer. */
    holder: Schema.optionalKey(InstanceName)
  }),
  /**
   * Not now; the same payment can be sent again. Either it cannot be decided yet or, if `why` says so, the payer's
   * other calls in progress take up its money or its limit.
   */
  Schema.TaggedStruct("Unavailable", {
    retryAfterSeconds: Count,
    reason: ReasonText,
    why: Schema.optionalKey(Schema.Literal("exposure"))
  })
])
export type VerifyAnswer = Schema.Schema.Type<typeof VerifyAnswer>

/**
 * One payment to be settled exactly once. `replyTo`: the gateway that waits for the outcome, if any. `claim`: the claim
 * at the first request, before anything was signed for it. The settler that takes the job moves the claim to SETTLING
 * by the write that names the first transaction.
 */
export const SettlementJob = Schema.Struct({
  claimKey: ClaimKey,
  payload: PaymentPayload,
  requirements: PaymentRequirements,
  payer: ChainAddress,
  replyTo: Schema.NullOr(Schema.Struct({ instance: InstanceName, session: InstanceName })),
  requestedAtMs: EpochMs,
  claim: Schema.optionalKey(ClaimFacts)
})
export interface SettlementJob extends Schema.Schema.Type<typeof SettlementJob> {}

/** The answer to the waiting gateway. `Pending`: the transaction is sent, and its outcome is not known yet. */
export const SettlementOutcome = Schema.Union([
  /** `transaction` is null if nothing was to be charged. */
  Schema.TaggedStruct("Settled", { transaction: Schema.NullOr(TransactionId) }),
  Schema.TaggedStruct("Refused", { code: PaymentCode, reason: ReasonText }),
  Schema.TaggedStruct("Pending", { transaction: Schema.NullOr(TransactionId) })
])
export type SettlementOutcome = Schema.Schema.Type<typeof SettlementOutcome>

/**
 * The end of a payment, or a refund of it, for audit. `transaction` is null for a payment that was never collected,
 * whose `reason` says why; for one of which nothing was charged; and for a channel's charge, which is claimed later,
 * together with others. Amounts are in the asset's smallest unit.
 */
export const Receipt = Schema.Struct({
  claimKey: ClaimKey,
  network: Network,
  asset: ChainAddress,
  payer: ChainAddress,
  payTo: ChainAddress,
  /** The amount that was charged, or was to be. */
  amount: AtomicAmount,
  /** The scheme it was paid by. Absent in receipts of older releases, which are all of `exact`. */
  scheme: Schema.optionalKey(Schema.Literals(signedSchemes)),
  /** The maximum charge, if it differs from the amount charged. */
  ceiling: Schema.optionalKey(AtomicAmount),
  /**
   * `refunded`: this amount of the claim's payment was returned to its payer, for the `reason` that an operator gave.
   */
  outcome: Schema.Literals(["settled", "uncollected", "refunded"]),
  transaction: Schema.NullOr(TransactionId),
  reason: Schema.NullOr(ReasonText),
  /** Absent in receipts of older releases, and of payments to other operators' servers. */
  model: Schema.optionalKey(text(256)),
  /**
   * What the model's provider charged for the answer, rounded up like the price. Absent if its cost is not configured,
   * in receipts of older releases, and if the payment was requested before the answer was complete.
   */
  providerCost: Schema.optionalKey(AtomicAmount),
  /** For a payment channel's charge. Absent in receipts of older releases. */
  channel: Schema.optionalKey(ChannelId),
  /** For a refund: the operator's name for it. */
  refund: Schema.optionalKey(text(64)),
  requestedAtMs: EpochMs,
  settledAtMs: EpochMs
})
export interface Receipt extends Schema.Schema.Type<typeof Receipt> {}
