import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { BatchSettlementEvmScheme, InMemoryClientChannelStorage } from "@x402/evm/batch-settlement/client"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { encodeAbiParameters, keccak256, recoverTypedDataAddress } from "viem"
import type { PaymentRequirements } from "#payments/contract"
import { channelPaymentOf, channelRefundOf, channelVerifier } from "#payments"
import { channelRequirements } from "../../../../dev/fixtures/evm/terms.ts"

const salt = `0x${"0".repeat(63)}7`
const privateKey = generatePrivateKey()
const account = privateKeyToAccount(privateKey)
const signer = { address: account.address, key: Buffer.from(privateKey.slice(2), "hex"), salt }
const offer = channelRequirements(privateKeyToAccount(generatePrivateKey()).address) as unknown as PaymentRequirements
const nowSeconds = Math.floor(Date.now() / 1_000)
const verify = channelVerifier("eip155:84532", 84_532n)

type Json = Record<string, unknown>

describe("what a payer by channel signs", () => {
  it("is what the protocol's own client signs: the same channel, the same voucher", async () => {
    const storage = new InMemoryClientChannelStorage()
    const client = new BatchSettlementEvmScheme(account as never, { storage, salt: salt as `0x${string}` })
    const first = (await client.createPaymentPayload(2, offer as never)).payload as Json
    const ours = channelPaymentOf(signer, offer, { maxClaimable: 1_000n, deposit: 5_000n, nowSeconds }).payload

    assert.deepStrictEqual(ours["channelConfig"], first["channelConfig"])
    assert.deepStrictEqual(ours["voucher"], first["voucher"])
    const { channelId } = ours["voucher"] as { readonly channelId: string }
    await storage.set(channelId, { balance: "5000", chargedCumulativeAmount: "700" })
    const next = (await client.createPaymentPayload(2, offer as never)).payload
    const voucher = channelPaymentOf(signer, offer, { maxClaimable: 1_700n, deposit: 0n, nowSeconds }).payload
    assert.deepStrictEqual(voucher, next)
  })

  it("passes the receiver's checks, deposits and refunds too", () => {
    const payments = [
      channelPaymentOf(signer, offer, { maxClaimable: 1_000n, deposit: 5_000n, nowSeconds }),
      channelPaymentOf(signer, offer, { maxClaimable: 1_000n, deposit: 0n, nowSeconds }),
      channelRefundOf(signer, offer, { charged: 700n, amount: null }),
      channelRefundOf(signer, offer, { charged: 700n, amount: 100n })
    ]
    for (const payment of payments) assert.isTrue(Result.isSuccess(verify(payment, offer, nowSeconds * 1_000)))
  })

  it("deposits by Permit2 where the offer asks for it, and passes the receiver's checks so", () => {
    const byPermit2 = { ...offer, extra: { ...offer.extra, assetTransferMethod: "permit2" } }
    const payment = channelPaymentOf(signer, byPermit2, { maxClaimable: 1_000n, deposit: 5_000n, nowSeconds })
    const { authorization } = payment.payload["deposit"] as { readonly authorization: object }
    assert.deepStrictEqual(Object.keys(authorization), ["permit2Authorization"])
    const checked = verify(payment, byPermit2, nowSeconds * 1_000)
    assert.isTrue(Result.isSuccess(checked), JSON.stringify(checked))
  })

  it("authorizes the deposit to the collector alone, for this channel alone", async () => {
    const { payload } = channelPaymentOf(signer, offer, { maxClaimable: 1_000n, deposit: 5_000n, nowSeconds })
    const { deposit, voucher } = payload as unknown as {
      readonly deposit: { readonly authorization: { readonly erc3009Authorization: Record<string, string> } }
      readonly voucher: { readonly channelId: `0x${string}` }
    }
    const { validAfter, validBefore, salt: depositSalt, signature } = deposit.authorization.erc3009Authorization
    const parts = [{ type: "bytes32" }, { type: "uint256" }] as const
    const nonce = keccak256(encodeAbiParameters(parts, [voucher.channelId, BigInt(depositSalt ?? 0)]))
    const recovered = await recoverTypedDataAddress({
      domain: { name: "USDC", version: "2", chainId: 84_532, verifyingContract: offer.asset as `0x${string}` },
      types: {
        ReceiveWithAuthorization: [
          { name: "from", type: "address" },
          { name: "to", type: "address" },
          { name: "value", type: "uint256" },
          { name: "validAfter", type: "uint256" },
          { name: "validBefore", type: "uint256" },
          { name: "nonce", type: "bytes32" }
        ]
      },
      primaryType: "ReceiveWithAuthorization",
      message: {
        from: account.address,
        to: "0x4020806089470a89826cB9fB1f4059150b550004",
        value: 5_000n,
        validAfter: BigInt(validAfter ?? 0),
        validBefore: BigInt(validBefore ?? 0),
        nonce
      },
      signature: signature as `0x${string}`
    })
    assert.strictEqual(recovered, account.address)
  })
})
