/**
 * x402 version 2 on the wire: the quote sent with a 402, the payment that a client sends for it, and the API of
 * facilitators. Unknown keys are dropped.
 */
import { Schema } from "effect"
import { text } from "#base"
import { paymentSchemes } from "./chains.ts"
import { channelScheme } from "./channels.ts"
import {
  AtomicAmount,
  ChainAddress,
  DecimalWord,
  EvmAddress,
  Extra,
  Network,
  NumberWord,
  ReasonText
} from "./primitives.ts"

export const x402Version = 2

/** Every scheme by which a payment can be signed. */
export const signedSchemes = [...paymentSchemes, channelScheme] as const

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
 * One payment option. `amount` is in the asset's smallest unit. `extra` is what the scheme's client needs to sign: the
 * token's `name` and `version` on EVM chains, the `facilitatorAddress` of `upto`, the `feePayer` on Solana.
 */
export const PaymentRequirements = Schema.Struct({
  scheme: Schema.Literals(signedSchemes),
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

/**
 * The decoded `PAYMENT-SIGNATURE` header. `accepted`: the entry of the quote that the client says it signed. `payload`
 * is specific to the scheme.
 */
export const PaymentPayload = Schema.Struct({
  x402Version: Schema.Literal(x402Version),
  resource: Schema.optionalKey(ResourceInfo),
  accepted: PaymentRequirements,
  payload: Extra,
  extensions: Schema.optionalKey(Extra)
})
export interface PaymentPayload extends Schema.Schema.Type<typeof PaymentPayload> {}

/** An EIP-3009 authorization. `validAfter` and `validBefore` are epoch seconds, `value` the smallest unit. */
const EvmAuthorization = Schema.Struct({
  from: EvmAddress,
  to: EvmAddress,
  value: DecimalWord,
  validAfter: DecimalWord,
  validBefore: DecimalWord,
  nonce: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u))
})
interface EvmAuthorization extends Schema.Schema.Type<typeof EvmAuthorization> {}

/** `payload` of the exact scheme on EVM chains. A longer signature is that of a contract wallet. */
export const ExactEvmPayload = Schema.Struct({
  signature: Schema.String.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2}){1,2048}$/u)),
  authorization: EvmAuthorization
})
export interface ExactEvmPayload extends Schema.Schema.Type<typeof ExactEvmPayload> {}

/** A transfer by Permit2 that only `witness.facilitator` may make, to `witness.to`. Times in epoch seconds. */
const UptoAuthorization = Schema.Struct({
  from: EvmAddress,
  permitted: Schema.Struct({ token: EvmAddress, amount: DecimalWord }),
  spender: EvmAddress,
  nonce: NumberWord,
  deadline: DecimalWord,
  witness: Schema.Struct({ to: EvmAddress, facilitator: EvmAddress, validAfter: DecimalWord })
})
interface UptoAuthorization extends Schema.Schema.Type<typeof UptoAuthorization> {}

/** `payload` of the scheme `upto` on EVM chains. `permitted.amount` is the maximum charge. */
export const UptoEvmPayload = Schema.Struct({
  signature: Schema.String.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2}){1,2048}$/u)),
  permit2Authorization: UptoAuthorization
})
export interface UptoEvmPayload extends Schema.Schema.Type<typeof UptoEvmPayload> {}

/** An approval that a payer has signed and the facilitator sends: `info` of the extension `eip2612GasSponsoring`. */
export const Eip2612Approval = Schema.Struct({
  from: EvmAddress,
  asset: EvmAddress,
  spender: EvmAddress,
  amount: DecimalWord,
  nonce: DecimalWord,
  deadline: DecimalWord,
  signature: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{130}$/u)),
  version: Schema.String.check(Schema.isPattern(/^[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}$/u))
})
export interface Eip2612Approval extends Schema.Schema.Type<typeof Eip2612Approval> {}

/** `payload` of the exact scheme on Solana: a wire transaction in base64, of at most 1,232 bytes. */
export const ExactSvmPayload = Schema.Struct({
  transaction: Schema.String.check(Schema.isMaxLength(1_644), Schema.isPattern(/^[A-Za-z0-9+/]+={0,2}$/u))
})
export interface ExactSvmPayload extends Schema.Schema.Type<typeof ExactSvmPayload> {}

const longText = Schema.String.check(Schema.isMaxLength(4_096))
const Payer = Schema.String.check(Schema.isMaxLength(128))

/** The body of `POST /verify` and `POST /settle`. */
export const FacilitatorRequest = Schema.Struct({
  x402Version: Schema.Literal(x402Version),
  paymentPayload: PaymentPayload,
  paymentRequirements: PaymentRequirements
})
export interface FacilitatorRequest extends Schema.Schema.Type<typeof FacilitatorRequest> {}

const ChannelTerms = Schema.Struct({
  ...PaymentRequirements.fields,
  scheme: Schema.Literal(channelScheme),
  // What a server sends for many payments at once has no time limit of its own.
  maxTimeoutSeconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400 }))
})

/** The same for payments by channel, and for what their server claims, moves and refunds. */
export const ChannelFacilitatorRequest = Schema.Struct({
  ...FacilitatorRequest.fields,
  paymentPayload: Schema.Struct({ ...PaymentPayload.fields, accepted: ChannelTerms }),
  paymentRequirements: ChannelTerms
})
export interface ChannelFacilitatorRequest extends Schema.Schema.Type<typeof ChannelFacilitatorRequest> {}

/** The answer of `POST /verify`. */
export const VerifyResponse = Schema.Struct({
  isValid: Schema.Boolean,
  invalidReason: Schema.optionalKey(ReasonText),
  invalidMessage: Schema.optionalKey(longText),
  payer: Schema.optionalKey(Payer),
  extensions: Schema.optionalKey(Extra),
  extra: Schema.optionalKey(Extra)
})
export interface VerifyResponse extends Schema.Schema.Type<typeof VerifyResponse> {}

/**
 * The answer of `POST /settle`. `transaction` is empty if there is none. Only `success: true` with a transaction means
 * paid.
 */
export const SettleResponse = Schema.Struct({
  success: Schema.Boolean,
  errorReason: Schema.optionalKey(ReasonText),
  errorMessage: Schema.optionalKey(longText),
  payer: Schema.optionalKey(Payer),
  transaction: Schema.String.check(Schema.isMaxLength(256)),
  network: Network,
  /** Empty if no money has moved, as when a channel is charged. */
  amount: Schema.optionalKey(Schema.Union([AtomicAmount, Schema.Literal("")])),
  extensions: Schema.optionalKey(Extra),
  extra: Schema.optionalKey(Extra)
})
export interface SettleResponse extends Schema.Schema.Type<typeof SettleResponse> {}

const SupportedKind = Schema.Struct({
  x402Version: Schema.Int,
  scheme: Schema.String.check(Schema.isMaxLength(64)),
  network: Schema.String.check(Schema.isMaxLength(64)),
  extra: Schema.optionalKey(Extra)
})
interface SupportedKind extends Schema.Schema.Type<typeof SupportedKind> {}

/**
 * The answer of `GET /supported`. `signers`: the settlers' addresses, by the networks that they sign for, such as
 * `eip155:*`.
 */
export const SupportedResponse = Schema.Struct({
  kinds: Schema.Array(SupportedKind).check(Schema.isMaxLength(256)),
  extensions: Schema.Array(Schema.String.check(Schema.isMaxLength(128))).check(Schema.isMaxLength(64)),
  signers: Schema.Record(Schema.String, Schema.Array(Schema.String.check(Schema.isMaxLength(128))))
})
export interface SupportedResponse extends Schema.Schema.Type<typeof SupportedResponse> {}
