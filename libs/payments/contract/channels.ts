/**
 * x402's scheme `batch-settlement` on the wire: a payer deposits into a channel once and pays each call with a voucher,
 * which raises the total that may be claimed from the deposit. Unknown keys are dropped.
 */
import { Schema } from "effect"
import { EpochMs, text } from "#base"
import {
  AtomicAmount,
  DecimalWord,
  EvmAddress,
  InstanceName,
  Network,
  NumberWord,
  ReasonText,
  TransactionId
} from "./primitives.ts"

export const channelScheme = "batch-settlement"

const Word = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u))

/** A signature longer than a plain key's is that of a contract wallet. */
const Signature = Schema.String.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2}){1,2048}$/u))

/** The contract accepts delays only from fifteen minutes to thirty days. */
export const withdrawDelaySecondsMin = 900
export const withdrawDelaySecondsMax = 2_592_000

export const ChannelId = Word.annotate({ identifier: "ChannelId" })

/** The parties of a channel; its id is their hash. */
export const ChannelConfig = Schema.Struct({
  payer: EvmAddress,
  /** The key that signs vouchers; zero if the payer's account signs them itself. */
  payerAuthorizer: EvmAddress,
  receiver: EvmAddress,
  receiverAuthorizer: EvmAddress,
  token: EvmAddress,
  withdrawDelay: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 40 - 1 })),
  salt: Word
})
export interface ChannelConfig extends Schema.Schema.Type<typeof ChannelConfig> {}

const amountMax = 2n ** 128n - 1n
const digits = /^[0-9]{1,78}$/u

/** The contract's numbers have 128 bits. */
const ChannelAmount = AtomicAmount.check(
  // All filters run: the pattern already reports a text of another form.
  Schema.makeFilter((text) => !digits.test(text) || BigInt(text) <= amountMax || "more than 128 bits hold")
)

/** A payer's signed statement that a total may be claimed from its channel. */
export const Voucher = Schema.Struct({ maxClaimable: ChannelAmount, signature: Signature })
export interface Voucher extends Schema.Schema.Type<typeof Voucher> {}

const WrittenVoucher = Schema.Struct({
  channelId: ChannelId,
  maxClaimableAmount: ChannelAmount,
  signature: Signature
})

const Erc3009Authorization = Schema.Struct({
  validAfter: AtomicAmount,
  validBefore: AtomicAmount,
  salt: Word,
  signature: Signature
})

/** A transfer by Permit2 into the channel of `witness`. */
const Permit2Authorization = Schema.Struct({
  from: EvmAddress,
  permitted: Schema.Struct({ token: EvmAddress, amount: DecimalWord }),
  spender: EvmAddress,
  nonce: NumberWord,
  deadline: DecimalWord,
  witness: Schema.Struct({ channelId: ChannelId }),
  signature: Signature
})

const parties = { channelConfig: ChannelConfig, voucher: WrittenVoucher }

/** `payload` of a payment by a channel. */
export const ChannelPayload = Schema.Union([
  Schema.Struct({ type: Schema.Literal("voucher"), ...parties }),
  Schema.Struct({
    type: Schema.Literal("deposit"),
    ...parties,
    deposit: Schema.Struct({
      amount: ChannelAmount,
      authorization: Schema.Union([
        Schema.Struct({ erc3009Authorization: Erc3009Authorization }),
        Schema.Struct({ permit2Authorization: Permit2Authorization })
      ])
    })
  }),
  /** Without an amount, all that is left is refunded. */
  Schema.Struct({ type: Schema.Literal("refund"), ...parties, amount: Schema.optionalKey(ChannelAmount) })
])
export type ChannelPayload = Schema.Schema.Type<typeof ChannelPayload>

/** A deposit by Permit2, with its approval of Permit2 (EIP-2612); null if the payer has already made one. */
const Permit2Deposit = Schema.Struct({
  nonce: DecimalWord,
  deadline: DecimalWord,
  signature: Signature,
  approval: Schema.NullOr(Schema.Struct({ deadline: DecimalWord, signature: Signature }))
})

/** What is claimed from a channel by its newest voucher. */
const WrittenClaim = Schema.Struct({
  voucher: Schema.Struct({ channel: ChannelConfig, maxClaimableAmount: ChannelAmount }),
  signature: Signature,
  totalClaimed: ChannelAmount
})

/** Rows of one claim that another server may have sent: about 12 million gas. */
export const writtenClaimsMax = 100
const claims = Schema.Array(WrittenClaim).check(Schema.isMaxLength(writtenClaimsMax))

/**
 * What another x402 server has its facilitator send for channels that are paid to us. The server has signed all of it.
 */
export const ChannelSettlement = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("claim"),
    claims: claims.check(Schema.isMinLength(1)),
    claimAuthorizerSignature: Signature
  }),
  /** Moves the claimed amount to the receiver. */
  Schema.Struct({ type: Schema.Literal("settle"), receiver: EvmAddress, token: EvmAddress }),
  /** What is owed is claimed, and the amount is refunded. */
  Schema.Struct({
    type: Schema.Literal("refund"),
    ...parties,
    amount: ChannelAmount,
    refundNonce: DecimalWord,
    claims,
    refundAuthorizerSignature: Signature,
    claimAuthorizerSignature: Schema.optionalKey(Signature)
  })
])
export type ChannelSettlement = Schema.Schema.Type<typeof ChannelSettlement>

/** How a deposit is authorized: by the token itself (EIP-3009), or by Permit2. */
export const DepositAuthorization = Schema.Union([Erc3009Authorization, Permit2Deposit])
export type DepositAuthorization = Schema.Schema.Type<typeof DepositAuthorization>

/** What only the chain knows about a channel, or only a settler can do there. Each order can be sent twice. */
const target = { network: Network, channelId: ChannelId, config: ChannelConfig }
export const ChannelOrder = Schema.Union([
  /** The chain is read, and the channel's record synchronized with it. */
  Schema.TaggedStruct("Look", target),
  /** `maxClaimable`: the total of the voucher that comes with it. */
  Schema.TaggedStruct("Deposit", {
    ...target,
    amount: ChannelAmount,
    maxClaimable: ChannelAmount,
    authorization: DepositAuthorization,
    /** The channel belongs to another server: it has no record here. */
    isForeign: Schema.optionalKey(Schema.Boolean)
  }),
  /**
   * For another server, whose channels have no record here. `ticket`: drawn for this sweep, which looks like any other.
   */
  Schema.TaggedStruct("Send", {
    network: Network,
    settlement: ChannelSettlement,
    ticket: Schema.optionalKey(InstanceName)
  }),
  /** The receipts that the channel's record owes are to be written. */
  Schema.TaggedStruct("Receipt", target),
  /** What was charged is to be claimed now. */
  Schema.TaggedStruct("Claim", target),
  /**
   * What was charged is to be claimed, and the amount refunded; null: all that is left. `ticket`: drawn for this
   * refund.
   */
  Schema.TaggedStruct("Refund", {
    ...target,
    amount: Schema.NullOr(ChannelAmount),
    voucher: Voucher,
    ticket: Schema.optionalKey(InstanceName)
  })
])
export type ChannelOrder = Schema.Schema.Type<typeof ChannelOrder>

export const ChannelOrderAnswer = Schema.Union([
  /** The channel's record matches the chain. `transaction` null: nothing had to be sent. `amount`: the amount moved. */
  Schema.TaggedStruct("Done", { transaction: Schema.NullOr(TransactionId), amount: AtomicAmount }),
  Schema.TaggedStruct("Refused", { reason: ReasonText, detail: Schema.optionalKey(text(1_024)) }),
  /** Not known yet, or it cannot be determined: the same order can be sent again. */
  Schema.TaggedStruct("Unavailable", { detail: text(1_024) })
])
export type ChannelOrderAnswer = Schema.Schema.Type<typeof ChannelOrderAnswer>

/** The block of a network up to which the settlers have seen what payers did with their channels. */
export const ChannelWatch = Schema.Struct({ block: Schema.Int, atMs: EpochMs })
export interface ChannelWatch extends Schema.Schema.Type<typeof ChannelWatch> {}
