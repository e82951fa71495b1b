/**
 * A call paid by channel, and a channel's refund. No channel state is kept between two runs: the chain has its balance,
 * and the gateway what it has charged. The gateway is believed only as far as it presents a voucher of ours that covers
 * it.
 */
import { Effect, Result, Schema } from "effect"
import type { HttpClientResponse } from "effect/http"
import { channelScheme, PaymentRequired, type PaymentRequirements, type SettleResponse } from "#payments/contract"
import { type CannotPay, readQuote, usdText, type WalletChannels } from "#payments"
import { CommandRefused } from "../console.ts"
import { callPaid, callRefund, receiptOf, refusedBy } from "./gateway.ts"
import type { PayOrder } from "./order.ts"

type Response = HttpClientResponse.HttpClientResponse

/** This many calls at the current price are deposited into a channel that holds too little for one. */
const callsOfDeposit = 5n

const mismatch = "invalid_batch_settlement_evm_cumulative_amount_mismatch"

const Amount = Schema.String.check(Schema.isPattern(/^[0-9]{1,39}$/u))
const ChannelExtra = Schema.Struct({
  channelState: Schema.Struct({ balance: Amount, chargedCumulativeAmount: Amount }),
  voucherState: Schema.optionalKey(Schema.Struct({ signedMaxClaimable: Amount, signature: Schema.String })),
  chargedAmount: Schema.optionalKey(Amount)
})
const decodeExtra = Schema.decodeUnknownResult(ChannelExtra)
const decodeQuote = Schema.decodeUnknownResult(Schema.fromJsonString(PaymentRequired))

export interface ChannelPosition {
  /** The total charged. */
  readonly charged: bigint
  readonly balance: bigint
}

/** The charged total, from a corrective refusal; undefined for any other refusal, or an unproven one. */
export const correctedBy = (
  header: string | undefined,
  { hasSigned }: Pick<WalletChannels, "hasSigned">,
  offer: PaymentRequirements
): bigint | undefined => {
  const quote = decodeQuote(Buffer.from(header ?? "", "base64").toString("utf8"))
  if (Result.isFailure(quote) || quote.success.error !== mismatch) return undefined
  const its = quote.success.accepts.find(({ scheme, network }) => scheme === offer.scheme && network === offer.network)
  const extra = decodeExtra(its?.extra)
  if (Result.isFailure(extra)) return undefined
  const { channelState, voucherState } = extra.success
  const charged = BigInt(channelState.chargedCumulativeAmount)
  const voucher = voucherState && { maxClaimable: voucherState.signedMaxClaimable, signature: voucherState.signature }
  const isShown = voucher !== undefined && charged <= BigInt(voucher.maxClaimable) && hasSigned(offer, voucher)
  return isShown ? charged : undefined
}

interface DepositTerms {
  readonly price: bigint
  /** The largest single deposit into the channel. */
  readonly max: bigint
}

/** The deposit needed in a channel before a call of this price; none if its balance is sufficient. */
export const depositFor = ({ charged, balance }: ChannelPosition, { price, max }: DepositTerms): bigint => {
  const missing = charged + price - balance
  if (missing <= 0n) return 0n
  const wanted = callsOfDeposit * price < max ? callsOfDeposit * price : max
  return missing > wanted ? missing : wanted
}

interface ChannelCall {
  readonly gatewayUrl: string
  readonly channels: WalletChannels
  readonly offer: PaymentRequirements
}

/** The answer, with any status; in one piece, because a stream's charge is known only with the next call. */
export const payByChannel = Effect.fnUntraced(function* (
  order: PayOrder,
  { gatewayUrl, channels, offer }: ChannelCall
) {
  const { balance, claimed } = yield* channels.state(offer)
  const attempt = Effect.fnUntraced(function* (charged: bigint) {
    const deposit = depositFor({ charged, balance }, { price: BigInt(offer.amount), max: order.microUsdMax })
    if (deposit > order.microUsdMax) {
      const missing = `the channel lacks ${usdText(deposit)} USD`
      return yield* new CommandRefused({ reason: `${missing}, more than --max-usd; nothing was paid` })
    }
    const payment = yield* channels.pay(offer, { charged, deposit })
    return yield* callPaid(gatewayUrl, { ...order, isStreamed: false }, payment)
  })
  return yield* correcting(claimed, (header) => correctedBy(header, channels, offer), attempt)
})

/** The second try uses the count that the gateway has proven. */
const correcting = Effect.fnUntraced(function* <E>(
  known: bigint,
  chargedIn: (header: string | undefined) => bigint | undefined,
  attempt: (charged: bigint) => Effect.Effect<Response, E>
) {
  const first = yield* attempt(known)
  const charged = first.status === 402 ? chargedIn(first.headers["payment-required"]) : undefined
  if (charged === undefined) return first
  yield* Effect.ignore(first.arrayBuffer)
  return yield* attempt(charged)
})

/** A receipt's facts about a channel, in dollars. */
export interface ChannelFacts {
  readonly depositUsd: string | null
  readonly depositTransaction: string | null
  readonly chargedUsd: string | null
  readonly leftUsd: string
}

/** Undefined for a receipt without a channel. */
export const channelFacts = (receipt: SettleResponse | undefined): ChannelFacts | undefined => {
  const extra = decodeExtra(receipt?.extra)
  if (receipt === undefined || Result.isFailure(extra)) return undefined
  const { channelState, chargedAmount } = extra.success
  const isDeposit = receipt.amount !== undefined && receipt.amount !== ""
  return {
    depositUsd: isDeposit ? usdText(BigInt(receipt.amount ?? 0)) : null,
    depositTransaction: isDeposit ? receipt.transaction : null,
    chargedUsd: chargedAmount === undefined ? null : usdText(BigInt(chargedAmount)),
    leftUsd: usdText(BigInt(channelState.balance) - BigInt(channelState.chargedCumulativeAmount))
  }
}

export const channelLines = (facts: ChannelFacts): ReadonlyArray<string> => {
  const { depositUsd, depositTransaction, chargedUsd, leftUsd } = facts
  return [
    ...(depositUsd === null ? [] : [`deposit:  ${depositUsd} USD into the channel, ${depositTransaction}`]),
    ...(chargedUsd === null ? [] : [`charged:  ${chargedUsd} USD`]),
    `channel:  ${leftUsd} USD left; ./starling pay --refund gets it back`
  ]
}

/** The quote's offer by channel, or why it is not taken. */
export const channelQuote = (order: PayOrder, header: string | undefined) =>
  readQuote(header, { ...order, scheme: channelScheme, limitName: "--max-usd" })

/** Refunds the rest of the wallet's channel to this gateway. */
export const refundChannel = Effect.fnUntraced(function* (
  order: PayOrder,
  gatewayUrl: string,
  channels: WalletChannels
): Effect.fn.Return<SettleResponse | undefined, CommandRefused | CannotPay> {
  const unpaid = yield* callRefund(gatewayUrl, undefined)
  if (unpaid.status !== 402) return yield* refusedBy(unpaid, false)
  yield* Effect.ignore(unpaid.arrayBuffer)
  const read = channelQuote(order, unpaid.headers["payment-required"])
  if (Result.isFailure(read)) return yield* new CommandRefused({ reason: read.failure })
  const { requirements: offer } = read.success
  const { claimed } = yield* channels.state(offer)
  const ask = (charged: bigint) => callRefund(gatewayUrl, channels.refund(offer, { charged, amount: null }))
  const answer = yield* correcting(claimed, (header) => correctedBy(header, channels, offer), ask)
  if (answer.status !== 200) return yield* refusedBy(answer, true)
  yield* Effect.ignore(answer.arrayBuffer)
  return receiptOf(answer)
})
