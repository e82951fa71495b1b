/**
 * Whether an authorization lasts until its answer is given and the transfer can still reach a block. How long an
 * answer may take is its kind's: a stream's is longer than a whole one's. Pure.
 */
import type { PaymentRefused } from "../errors.ts"
import type { EvmPayment } from "./EvmPayment.ts"
import { refused } from "./reasons.ts"

/** The refusal of a payment that ends sooner than in so many seconds; nothing for one that lasts. */
export const refusedForTime = (payment: EvmPayment, nowMs: number, seconds: number): PaymentRefused | undefined =>
  payment.validBeforeMs < nowMs + seconds * 1_000
    ? refused("invalid_exact_evm_payload_authorization_valid_before", payment.payer)
    : undefined
