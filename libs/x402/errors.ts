/**
 * Why a payment goes no further, by what the caller does next: a refusal is told to the payer, a pending one
 * is looked up on the chain again, and a chain that cannot be asked is asked again later.
 */
import { Schema } from "effect"
import { PaymentCode } from "#contracts"

/** The payment is no good. Nothing was sent to the chain. `reason` is the protocol's text; `detail` may say more. */
export class PaymentRefused extends Schema.TaggedError<PaymentRefused>()("PaymentRefused", {
  code: PaymentCode,
  reason: Schema.String,
  payer: Schema.NullOr(Schema.String),
  detail: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `payment refused: ${this.reason}`
  }
}

/** The chain did not answer, or not in a way that says anything of the payment. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  operation: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `could not ${this.operation}: ${this.detail}`
  }
}

/** The configuration and the chain do not belong together; waiting does not help. */
export class ChainMismatch extends Schema.TaggedError<ChainMismatch>()("ChainMismatch", { detail: Schema.String }) {
  override get message() {
    return `the chain is not the one that is configured: ${this.detail}`
  }
}

/** The chain has refused the transfer for good; `transaction` is the one it refused, if it took one in. */
export class SettlementRefused extends Schema.TaggedError<SettlementRefused>()("SettlementRefused", {
  code: PaymentCode,
  reason: Schema.String,
  payer: Schema.NullOr(Schema.String),
  transaction: Schema.NullOr(Schema.String)
}) {
  override get message() {
    return `settlement refused: ${this.reason}`
  }
}

/** Sent, or perhaps sent, and not known to have happened. Never a reason to let the payer pay again. */
export class SettlementPending extends Schema.TaggedError<SettlementPending>()("SettlementPending", {
  transaction: Schema.NullOr(Schema.String),
  detail: Schema.String
}) {
  override get message() {
    return `settlement pending: ${this.detail}`
  }
}
