/** The facilitator's HTTP API (x402 version 2): `/verify`, `/settle` and `/supported`, asked and answered alike. */
import { Schema } from "effect"
import { AtomicAmount, Extra, Network, ReasonText } from "./amounts.ts"
import { PaymentPayload } from "./payload.ts"
import { PaymentRequirements, x402Version } from "./requirements.ts"

const longText = Schema.String.check(Schema.isMaxLength(4_096))
const Payer = Schema.String.check(Schema.isMaxLength(128))

/** The body of `POST /verify` and `POST /settle`. */
export const FacilitatorRequest = Schema.Struct({
  x402Version: Schema.Literal(x402Version),
  paymentPayload: PaymentPayload,
  paymentRequirements: PaymentRequirements
})
export interface FacilitatorRequest extends Schema.Schema.Type<typeof FacilitatorRequest> {}

export const VerifyResponse = Schema.Struct({
  isValid: Schema.Boolean,
  invalidReason: Schema.optionalKey(ReasonText),
  invalidMessage: Schema.optionalKey(longText),
  payer: Schema.optionalKey(Payer),
  extensions: Schema.optionalKey(Extra),
  extra: Schema.optionalKey(Extra)
})
export interface VerifyResponse extends Schema.Schema.Type<typeof VerifyResponse> {}

/** `transaction` is empty where there is none. Paid is only `success: true` with a transaction. */
export const SettleResponse = Schema.Struct({
  success: Schema.Boolean,
  errorReason: Schema.optionalKey(ReasonText),
  errorMessage: Schema.optionalKey(longText),
  payer: Schema.optionalKey(Payer),
  transaction: Schema.String.check(Schema.isMaxLength(256)),
  network: Network,
  amount: Schema.optionalKey(AtomicAmount),
  extensions: Schema.optionalKey(Extra),
  extra: Schema.optionalKey(Extra)
})
export interface SettleResponse extends Schema.Schema.Type<typeof SettleResponse> {}

export const SupportedKind = Schema.Struct({
  x402Version: Schema.Int,
  scheme: Schema.String.check(Schema.isMaxLength(64)),
  network: Schema.String.check(Schema.isMaxLength(64)),
  extra: Schema.optionalKey(Extra)
})
export interface SupportedKind extends Schema.Schema.Type<typeof SupportedKind> {}

/** `signers`: the settlers' addresses by the networks they sign for, `eip155:*`. */
export const SupportedResponse = Schema.Struct({
  kinds: Schema.Array(SupportedKind).check(Schema.isMaxLength(256)),
  extensions: Schema.Array(Schema.String.check(Schema.isMaxLength(128))).check(Schema.isMaxLength(64)),
  signers: Schema.Record(Schema.String, Schema.Array(Schema.String.check(Schema.isMaxLength(128))))
})
export interface SupportedResponse extends Schema.Schema.Type<typeof SupportedResponse> {}
