/** Payments on their way to the chain, their outcomes, and the receipts that are kept. */
import { Schema } from "effect"
import { EpochMs, text } from "../primitives.ts"
import { AtomicAmount, ChainAddress, ClaimKey, InstanceName, Network, ReasonText, TransactionId } from "./primitives.ts"
import { ClaimFacts, PaymentCode } from "./verification.ts"
import { PaymentPayload, PaymentRequirements } from "./x402.ts"

/**
 * One payment to be settled exactly once. `replyTo`: the gateway that waits for the outcome, if one does. `claim`: the
 * claim at the first request, before anything was signed for it. The settler that takes the job moves the claim to
 * SETTLING by the write that names the first transaction.
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
  Schema.TaggedStruct("Settled", { transaction: TransactionId }),
  Schema.TaggedStruct("Refused", { code: PaymentCode, reason: ReasonText }),
  Schema.TaggedStruct("Pending", { transaction: Schema.NullOr(TransactionId) })
])
export type SettlementOutcome = Schema.Schema.Type<typeof SettlementOutcome>

/**
 * The end of a payment, for audit. `transaction` is null for a payment that was never collected; `reason` says why.
 * Amounts are in the asset's smallest unit.
 */
export const Receipt = Schema.Struct({
  claimKey: ClaimKey,
  network: Network,
  asset: ChainAddress,
  payer: ChainAddress,
  payTo: ChainAddress,
  amount: AtomicAmount,
  outcome: Schema.Literals(["settled", "uncollected"]),
  transaction: Schema.NullOr(TransactionId),
  reason: Schema.NullOr(ReasonText),
  /** Absent in receipts of older releases, and of payments to servers of somebody else. */
  model: Schema.optionalKey(text(256)),
  requestedAtMs: EpochMs,
  settledAtMs: EpochMs
})
export interface Receipt extends Schema.Schema.Type<typeof Receipt> {}
