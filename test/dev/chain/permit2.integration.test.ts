import { UptoEvmScheme } from "@x402/evm/upto/client"
import { createPublicClient, http } from "viem"
import { baseSepolia } from "viem/chains"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import { permit2Address, walletFactoryAddress } from "#dev/chain"
import { type EvmFixture, startEvmFixture } from "../../../dev/fixtures/evm/fixture.ts"
import { newPayer, payerOf } from "../../../dev/fixtures/evm/payments.ts"
import { type ReferenceFacilitator, referenceFacilitator } from "../../../dev/fixtures/evm/reference-facilitator.ts"
import {
  approveCall,
  deployWalletCall,
  executeCall,
  invalidateNonceCall
} from "../../../dev/fixtures/evm/token-calls.ts"
import { permitOf, uptoPayment, uptoRequirementsOf } from "../../../dev/fixtures/evm/upto-payments.ts"

const nowSeconds = () => Math.floor(Date.now() / 1_000)

describe("Permit2 and the proxy of upto on the local chain, by the client and the facilitator of @x402/evm", () => {
  let fixture: EvmFixture
  let facilitator: ReferenceFacilitator
  let requirements: PaymentRequirements
  const settlers: Array<string> = []

  beforeAll(async () => {
    fixture = await startEvmFixture()
    facilitator = referenceFacilitator(fixture.chain, 0)
    settlers.push(...fixture.chain.settlers.map(({ address }) => address))
    requirements = uptoRequirementsOf(settlers[0] ?? "")
  })
  afterAll(() => fixture.end())

  const send = async (from: string, to: string, data: string) => {
    await fixture.run(fixture.chain.rpc("anvil_impersonateAccount", [from]))
    await fixture.run(fixture.chain.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"]))
    return fixture.run(fixture.chain.rpc("eth_sendTransactionSync", [{ from, to, data }]))
  }
  const funded = async () => {
    const payer = newPayer()
    await fixture.run(fixture.chain.fund(payer.address, 25_685n))
    return payer
  }
  const approved = async () => {
    const payer = await funded()
    await send(payer.address, fixture.chain.asset, approveCall(permit2Address))
    return payer
  }
  const balanceOf = async (owner: string) => {
    const client = createPublicClient({ chain: baseSepolia, transport: http(fixture.chain.rpcUrl) })
    const abi = [
      {
        type: "function",
        name: "balanceOf",
        stateMutability: "view",
        inputs: [{ type: "address" }],
        outputs: [{ type: "uint256" }]
      }
    ] as const
    return client.readContract({
      address: fixture.chain.asset,
      abi,
      functionName: "balanceOf",
      args: [owner as `0x${string}`]
    })
  }
  const settle = (payload: PaymentPayload, amount: string) => facilitator.settle(payload, { ...requirements, amount })

  it("settle less than the signed maximum, once", async () => {
    const payer = await approved()
    const client = new UptoEvmScheme(payer)
    const made = await client.createPaymentPayload(2, requirements as never)
    const payload = { ...made, accepted: requirements } as unknown as PaymentPayload

    assert.strictEqual(await facilitator.verdict(payload, requirements), "valid")
    const settled = await settle(payload, "20000")
    assert.isTrue(settled.success, settled.errorReason)
    assert.strictEqual(settled.amount, "20000")
    assert.strictEqual(await balanceOf(payer.address), 5_685n)

    const again = await settle(payload, "1")
    assert.isFalse(again.success)
    assert.strictEqual(await balanceOf(payer.address), 5_685n)
  })

  it("take an approval that the payer signs for the facilitator to send", async () => {
    const payer = await funded()
    const client = new UptoEvmScheme(payer, { rpcUrl: fixture.chain.rpcUrl })
    const context = { extensions: { eip2612GasSponsoring: { info: { description: "", version: "1" } } } }
    const made = await client.createPaymentPayload(2, requirements as never, context as never)
    const payload = { ...made, accepted: requirements } as unknown as PaymentPayload
    assert.isDefined(payload.extensions?.["eip2612GasSponsoring"])

    const { extensions: _, ...bare } = payload
    assert.strictEqual(await facilitator.verdict(bare, requirements), "permit2_allowance_required")
    assert.strictEqual(await facilitator.verdict(payload, requirements), "valid")
    const settled = await settle(payload, "300")
    assert.isTrue(settled.success, settled.errorReason)
    assert.strictEqual(await balanceOf(payer.address), 25_385n)
  })

  it("refuse another sender than the signed facilitator, and a sum above the maximum", async () => {
    const payer = await approved()
    const payload = await uptoPayment(payer, requirements, { nowSeconds: nowSeconds() })
    assert.strictEqual(await facilitator.verdict(payload, requirements), "valid")

    const other = referenceFacilitator(fixture.chain, 1)
    assert.strictEqual(await other.verdict(payload, requirements), "upto_facilitator_mismatch")
    const above = await settle(payload, "25686")
    assert.strictEqual(above.errorReason, "invalid_upto_evm_payload_settlement_exceeds_amount")
    assert.strictEqual(await balanceOf(payer.address), 25_685n)
  })

  it("refuse a nonce that its owner has invalidated, and a permit whose time is over", async () => {
    const payer = await approved()
    const payload = await uptoPayment(payer, requirements, { nowSeconds: nowSeconds() })
    await send(payer.address, permit2Address, invalidateNonceCall(BigInt(permitOf(payload).permit2Authorization.nonce)))
    assert.strictEqual(await facilitator.verdict(payload, requirements), "permit2_simulation_failed")

    const late = await uptoPayment(payer, requirements, {
      nowSeconds: nowSeconds(),
      signed: { deadline: String(nowSeconds() - 1) }
    })
    assert.strictEqual(await facilitator.verdict(late, requirements), "permit2_deadline_expired")
  })

  it("ask a contract wallet whether a signature is its own", async () => {
    const owner = payerOf(fixture.chain.payer.privateKey)
    await send(owner.address, walletFactoryAddress, deployWalletCall(owner.address))
    const client = createPublicClient({ chain: baseSepolia, transport: http(fixture.chain.rpcUrl) })
    const abi = [
      {
        type: "function",
        name: "walletOf",
        stateMutability: "view",
        inputs: [{ type: "address" }],
        outputs: [{ type: "address" }]
      }
    ] as const
    const wallet = await client.readContract({
      address: walletFactoryAddress,
      abi,
      functionName: "walletOf",
      args: [owner.address]
    })
    await fixture.run(fixture.chain.fund(wallet, 25_685n))
    await send(owner.address, wallet, executeCall(fixture.chain.asset, approveCall(permit2Address)))

    const signed = { from: wallet }
    const payload = await uptoPayment(owner, requirements, { nowSeconds: nowSeconds(), signed })
    assert.strictEqual(await facilitator.verdict(payload, requirements), "valid")
    assert.isTrue((await settle(payload, "100")).success)
    assert.strictEqual(await balanceOf(wallet), 25_585n)

    const stranger = await uptoPayment(newPayer(), requirements, { nowSeconds: nowSeconds(), signed })
    assert.strictEqual(await facilitator.verdict(stranger, requirements), "invalid_permit2_signature")
  })
})
