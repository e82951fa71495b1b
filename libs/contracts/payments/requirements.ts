/** What a payment must be (x402 version 2): the quote that goes out with a 402, and what a client says it accepted. */
import { Schema } from "effect"
import { text } from "../primitives.ts"
import { AtomicAmount, ChainAddress, Extra, Network } from "./amounts.ts"

export const x402Version = 2

/** What is paid for. */
export const ResourceInfo = Schema.Struct({
  url: Schema.String.check(Schema.isBetweenLength(1, 2_048)),
  description: Schema.optionalKey(text(1_024)),
  mimeType: Schema.optionalKey(text(256)),
  serviceName: Schema.optionalKey(text(32)),
  tags: Schema.optionalKey(Schema.Array(text(32)).check(Schema.isMaxLength(5))),
  iconUrl: Schema.optionalKey(text(2_048))
})
export interface ResourceInfo extends Schema.Schema.Type<typeof ResourceInfo> {}

/**
 * One way to pay. `amount` is in the asset's smallest unit. `extra` is what the scheme's client needs to sign:
 * the token's `name` and `version` on EVM chains, the `feePayer` on Solana.
 */
export const PaymentRequirements = Schema.Struct({
  scheme: Schema.Literal("exact"),
  network: Network,
  amount: AtomicAmount,
  asset: ChainAddress,
  payTo: ChainAddress,
  maxTimeoutSeconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 })),
  extra: Schema.optionalKey(Extra)
})
export interface PaymentRequirements extends Schema.Schema.Type<typeof PaymentRequirements> {}

/** The quote: the decoded `PAYMENT-REQUIRED` header. Clients sign the first entry of `accepts`. */
export const PaymentRequired = Schema.Struct({
  x402Version: Schema.Literal(x402Version),
  error: Schema.optionalKey(Schema.String),
  resource: ResourceInfo,
  accepts: Schema.Array(PaymentRequirements).check(Schema.isBetweenLength(1, 16)),
  extensions: Schema.optionalKey(Extra)
})
export interface PaymentRequired extends Schema.Schema.Type<typeof PaymentRequired> {}
