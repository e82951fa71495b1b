/** A payer as tests make it: quotes read, payments signed by a wallet library, each by hand where the moment matters. */
import { randomBytes } from "node:crypto"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { privateKeyToAccount } from "viem/accounts"
import { Schema } from "effect"
import { PaymentRequired, type PaymentRequirements } from "#payments/contract"
import { transferTypes } from "../../dev/fixtures/evm/payments.ts"

/** Pays by itself, as the protocol's own client does. */
export const payingFetch = (privateKey: `0x${string}`): typeof fetch => {
  const client = new x402Client()
  client.register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
  return wrapFetchWithPayment(fetch, client) as typeof fetch
}

export const quoteOf = (response: Response): PaymentRequired => {
  const text = Buffer.from(response.headers.get("payment-required") ?? "", "base64").toString("utf8")
  return Schema.decodeSync(Schema.fromJsonString(PaymentRequired))(text)
}

export interface SigningOptions {
  /** From now, seconds. */
  readonly validForSeconds?: number
  readonly nonce?: `0x${string}`
  readonly identifier?: string
}

/** The value of PAYMENT-SIGNATURE for the first offer. */
export const signPayment = async (
  privateKey: `0x${string}`,
  accepted: PaymentRequirements,
  { validForSeconds = 600, nonce = `0x${randomBytes(32).toString("hex")}`, identifier }: SigningOptions = {}
): Promise<string> => {
  const account = privateKeyToAccount(privateKey)
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const authorization = {
    from: account.address,
    to: accepted.payTo as `0x${string}`,
    value: BigInt(accepted.amount),
    validAfter: BigInt(nowSeconds - 600),
    validBefore: BigInt(nowSeconds + validForSeconds),
    nonce
  }
  const signature = await account.signTypedData({
    domain: {
      name: "USDC",
      version: "2",
      chainId: Number(accepted.network.split(":")[1]),
      verifyingContract: accepted.asset as `0x${string}`
    },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message: authorization
  })
  const written = Object.fromEntries(Object.entries(authorization).map(([key, value]) => [key, String(value)]))
  const extensions =
    identifier === undefined ? {} : { extensions: { "payment-identifier": { info: { id: identifier } } } }
  const payload = { x402Version: 2, accepted, payload: { signature, authorization: written }, ...extensions }
  return Buffer.from(JSON.stringify(payload)).toString("base64")
}
