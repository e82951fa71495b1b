/**
 * Payers with a channel each, and the vouchers that they sign call by call, from what the last receipt says; quickly,
 * for what is measured is the taking.
 */
import { randomBytes } from "node:crypto"
import { Schema } from "effect"
import { PaymentRequired, type PaymentRequirements } from "#contracts"
import type { LocalAccount, LocalChain } from "#dev/chain"
import { channelPaymentOf, type ChannelSigner } from "#x402"
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
}

export const channelsOf = async (chain: LocalChain, count: number): Promise<ReadonlyArray<LoadChannel>> =>
  (await fundedPayers(chain, count)).map(({ address, privateKey }: LocalAccount) => ({
    address,
    key: Buffer.from(privateKey.slice(2), "hex"),
    salt: `0x${randomBytes(32).toString("hex")}`,
    charged: 0n,
    balance: 0n
  }))

/** The offer of a call by channel. */
export const channelOffer = async ({ call }: Client): Promise<PaymentRequirements> => {
  const { headers } = await call({ mark: markOf(0) })
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
  { mark, calls }: { readonly mark: string; readonly calls: number }
): Promise<VoucherCall> => {
  const price = BigInt(offer.amount)
  const isShort = channel.charged + price > channel.balance
  const deposit = isShort ? price * BigInt(calls) : 0n
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const payment = channelPaymentOf(channel, offer, { maxClaimable: channel.charged + price, deposit, nowSeconds })
  const header = Buffer.from(JSON.stringify(payment)).toString("base64")
  const { status, ms, headers, text } = await client.call({ payment: header, mark })
  if (status !== 200) {
    process.stderr.write(`answered ${status}: ${text.slice(0, 200)}\n`)
    return { ms, status }
  }
  const { extra } = decodeReceipt(Buffer.from(String(headers["payment-response"]), "base64").toString("utf8"))
  channel.charged = BigInt(extra.channelState.chargedCumulativeAmount)
  channel.balance = BigInt(extra.channelState.balance)
  return { ms, status }
}
