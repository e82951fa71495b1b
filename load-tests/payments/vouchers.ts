/**
 * Payers with a channel each, and their vouchers. Each pays for what the last receipt says was charged; as all calls cost
 * the same, vouchers are signed before the clock starts, for what is measured is the taking. One whose sum turns out
 * another is signed anew.
 */
import { randomBytes } from "node:crypto"
import { Schema } from "effect"
import { PaymentRequired, type PaymentRequirements } from "#payments/contract"
import type { LocalAccount, LocalChain } from "#dev/chain"
import { channelPaymentOf, type ChannelSigner } from "#payments"
import { fundedPayers } from "./payers.ts"
import { type Client, markOf } from "./client.ts"

const decodeQuote = Schema.decodeUnknownSync(Schema.fromJsonString(PaymentRequired))
const Receipt = Schema.fromJsonString(
  Schema.Struct({
    extra: Schema.Struct({
      channelState: Schema.Struct({ balance: Schema.String, chargedCumulativeAmount: Schema.String })
    })
  })
)
const decodeReceipt = Schema.decodeUnknownSync(Receipt)

/** One payer's channel to one server. */
export interface LoadChannel extends ChannelSigner {
  charged: bigint
  balance: bigint
  /** What the last call cost. */
  step: bigint
  /** The values of PAYMENT-SIGNATURE that are signed ahead, by the sum that each allows. */
  readonly ahead: Map<bigint, string>
}

export const channelsOf = async (chain: LocalChain, count: number): Promise<ReadonlyArray<LoadChannel>> =>
  (await fundedPayers(chain, count)).map(({ address, privateKey }: LocalAccount) => ({
    address,
    key: Buffer.from(privateKey.slice(2), "hex"),
    salt: `0x${randomBytes(32).toString("hex")}`,
    charged: 0n,
    balance: 0n,
    step: 0n,
    ahead: new Map()
  }))

const voucherFor = (channel: LoadChannel, offer: PaymentRequirements, maxClaimable: bigint, deposit = 0n): string => {
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const payment = channelPaymentOf(channel, offer, { maxClaimable, deposit, nowSeconds })
  return Buffer.from(JSON.stringify(payment)).toString("base64")
}

/** Signs the next vouchers of each channel, as far as its balance allows. */
export const signAhead = (channels: ReadonlyArray<LoadChannel>, offer: PaymentRequirements, count: number) => {
  const price = BigInt(offer.amount)
  for (const channel of channels) {
    if (channel.step === 0n) continue
    channel.ahead.clear()
    for (let call = 0; call < count; call += 1) {
      const maxClaimable = channel.charged + channel.step * BigInt(call) + price
      if (maxClaimable <= channel.balance) channel.ahead.set(maxClaimable, voucherFor(channel, offer, maxClaimable))
    }
  }
}

/** The offer of a call by channel. */
export const channelOffer = async ({ call }: Client, model: string): Promise<PaymentRequirements> => {
  const { headers } = await call({ mark: markOf(0), model })
  const quote = decodeQuote(Buffer.from(String(headers["payment-required"]), "base64").toString("utf8"))
  const offer = quote.accepts.find(({ scheme }) => scheme === "batch-settlement")
  if (offer === undefined) throw new Error("channels are not offered")
  return offer
}

export interface VoucherCall {
  readonly ms: number
  readonly status: number
}

/** A call by voucher, or by a deposit for `calls` of them where the channel has too little. */
export const payByChannel = async (
  client: Client,
  channel: LoadChannel,
  offer: PaymentRequirements,
  { mark, calls, model }: { readonly mark: string; readonly calls: number; readonly model: string }
): Promise<VoucherCall> => {
  const price = BigInt(offer.amount)
  const maxClaimable = channel.charged + price
  const deposit = maxClaimable > channel.balance ? price * BigInt(calls) : 0n
  const header = channel.ahead.get(maxClaimable) ?? voucherFor(channel, offer, maxClaimable, deposit)
  const { status, ms, headers, text } = await client.call({ payment: header, mark, model })
  if (status !== 200) {
    process.stderr.write(`answered ${status}: ${text.slice(0, 200)}\n`)
    return { ms, status }
  }
  const { extra } = decodeReceipt(Buffer.from(String(headers["payment-response"]), "base64").toString("utf8"))
  const before = channel.charged
  channel.charged = BigInt(extra.channelState.chargedCumulativeAmount)
  channel.step = channel.charged - before
  channel.balance = BigInt(extra.channelState.balance)
  return { ms, status }
}
