/** What a client sends to pay (x402 version 2): the decoded `PAYMENT-SIGNATURE` header. Unknown keys are dropped. */
import { Schema } from "effect"
import { DecimalWord, EvmAddress, Extra } from "./amounts.ts"
import { PaymentRequirements, ResourceInfo, x402Version } from "./requirements.ts"

/** `accepted`: the entry of the quote that the client says it signed. `payload` is the scheme's own. */
export const PaymentPayload = Schema.Struct({
  x402Version: Schema.Literal(x402Version),
  resource: Schema.optionalKey(ResourceInfo),
  accepted: PaymentRequirements,
  payload: Extra,
  extensions: Schema.optionalKey(Extra)
})
export interface PaymentPayload extends Schema.Schema.Type<typeof PaymentPayload> {}

/** An EIP-3009 authorization. `validAfter` and `validBefore` are epoch seconds, `value` the smallest unit. */
export const EvmAuthorization = Schema.Struct({
  from: EvmAddress,
  to: EvmAddress,
  value: DecimalWord,
  validAfter: DecimalWord,
  validBefore: DecimalWord,
  nonce: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u))
})
export interface EvmAuthorization extends Schema.Schema.Type<typeof EvmAuthorization> {}

/** `payload` of the exact scheme on EVM chains. A longer signature is a contract wallet's. */
export const ExactEvmPayload = Schema.Struct({
  signature: Schema.String.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2}){1,2048}$/u)),
  authorization: EvmAuthorization
})
export interface ExactEvmPayload extends Schema.Schema.Type<typeof ExactEvmPayload> {}

/** `payload` of the exact scheme on Solana: a wire transaction in base64, at most 1,232 bytes of it. */
export const ExactSvmPayload = Schema.Struct({
  transaction: Schema.String.check(Schema.isMaxLength(1_644), Schema.isPattern(/^[A-Za-z0-9+/]+={0,2}$/u))
})
export interface ExactSvmPayload extends Schema.Schema.Type<typeof ExactSvmPayload> {}
