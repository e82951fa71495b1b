/** A payer that pays by channel as the protocol's own client does, unmodified. */
import { randomBytes } from "node:crypto"
import {
  BatchSettlementEvmScheme,
  type BatchSettlementEvmSchemeOptions,
  InMemoryClientChannelStorage
} from "@x402/evm/batch-settlement/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { createPublicClient, http } from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import { Schema } from "effect"
import type { PaymentRequirements, SettleResponse } from "#payments/contract"

export interface ChannelPayer {
  readonly account: PrivateKeyAccount
  readonly fetch: typeof fetch
  /** The value of PAYMENT-SIGNATURE for an offer, with changes to its payload. */
  readonly sign: (offer: PaymentRequirements, change?: (payload: Json) => Json) => Promise<string>
  readonly refund: (url: string, amount?: string) => Promise<SettleResponse>
  /** What the client knows of its one channel. */
  readonly known: () => Promise<{ readonly charged: bigint; readonly balance: bigint } | undefined>
  /** A client with the same key and channel that knows nothing of it. */
  readonly forgetful: () => ChannelPayer
}

type Json = Readonly<Record<string, unknown>>

interface PayerOptions {
  readonly salt?: `0x${string}`
  /** How many calls of the first one's price a deposit is for. */
  readonly depositMultiplier?: number
}

export const channelPayer = (rpcUrl: string, privateKey: `0x${string}`, options: PayerOptions = {}): ChannelPayer => {
  const { salt = `0x${randomBytes(32).toString("hex")}`, depositMultiplier = 20 } = options
  const account = privateKeyToAccount(privateKey)
  const { readContract } = createPublicClient({ chain: baseSepolia, transport: http(rpcUrl, { retryCount: 0 }) })
  const signer = { address: account.address, signTypedData: account.signTypedData, readContract }
  const ids: Array<string> = []
  class Storage extends InMemoryClientChannelStorage {
    override set(key: string, context: Parameters<InMemoryClientChannelStorage["set"]>[1]) {
      if (!ids.includes(key)) ids.push(key)
      return super.set(key, context)
    }
  }
  const storage = new Storage()
  const settings: BatchSettlementEvmSchemeOptions = { storage, salt, depositPolicy: { depositMultiplier } }
  const scheme = new BatchSettlementEvmScheme(signer as never, settings)
  const client = new x402Client()
  client.register("eip155:*", scheme)
  return {
    account,
    fetch: wrapFetchWithPayment(fetch, client) as typeof fetch,
    sign: async (offer, change = (payload) => payload) => {
      const { payload } = await scheme.createPaymentPayload(2, offer as never)
      const payment = { x402Version: 2, accepted: offer, payload: change(payload) }
      return Buffer.from(JSON.stringify(payment)).toString("base64")
    },
    refund: async (url, amount) => (await scheme.refund(url, amount === undefined ? {} : { amount })) as SettleResponse,
    known: async () => {
      const context = await storage.get(ids[0] ?? "")
      if (context === undefined) return undefined
      return { charged: BigInt(context.chargedCumulativeAmount ?? "0"), balance: BigInt(context.balance ?? "0") }
    },
    forgetful: () => channelPayer(rpcUrl, privateKey, { ...options, salt })
  }
}

const decode = Schema.decodeUnknownSync(
  Schema.Struct({
    success: Schema.Boolean,
    transaction: Schema.String,
    amount: Schema.optionalKey(Schema.String),
    extra: Schema.Struct({
      chargedAmount: Schema.optionalKey(Schema.String),
      channelState: Schema.Struct({
        channelId: Schema.String,
        balance: Schema.String,
        totalClaimed: Schema.String,
        chargedCumulativeAmount: Schema.String
      })
    })
  })
)

/** The receipt of an answer that was paid by channel. */
export const channelReceipt = (response: Response) =>
  decode(JSON.parse(Buffer.from(response.headers.get("payment-response") ?? "", "base64").toString("utf8")))
