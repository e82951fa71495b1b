import { Effect, Redacted, Result } from "effect"
import { createPublicClient, http, serializeErc6492Signature } from "viem"
import { generatePrivateKey } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import { permit2Address, walletFactoryAddress } from "#dev/chain"
import { openWallet } from "#payments"
import { type EvmFixture, startEvmFixture } from "../../../../../../dev/fixtures/evm/fixture.ts"
import { newPayer, payTo, payerOf } from "../../../../../../dev/fixtures/evm/payments.ts"
import {
  type ReferenceFacilitator,
  referenceFacilitator
} from "../../../../../../dev/fixtures/evm/reference-facilitator.ts"
import {
  approveCall,
  deployWalletCall,
  executeCall,
  invalidateNonceCall
} from "../../../../../../dev/fixtures/evm/token-calls.ts"
import {
  forgedPermit,
  newPermitNonce,
  permitOf,
  uptoPayment,
  uptoRequirementsOf,
  withApproval
} from "../../../../../../dev/fixtures/evm/upto-payments.ts"
import { settlingOn } from "../settling-fixture.ts"
import { type UptoFixtures, vectors } from "./vectors.ts"

const nowSeconds = () => Math.floor(Date.now() / 1_000)
const most = 25_685n

const walletAbi = [
  {
    type: "function",
    name: "walletOf",
    stateMutability: "view",
    inputs: [{ type: "address" }],
    outputs: [{ type: "address" }]
  }
] as const

const walletOf = (rpcUrl: string, owner: `0x${string}`) =>
  createPublicClient({ chain: baseSepolia, transport: http(rpcUrl) }).readContract({
    address: walletFactoryAddress,
    abi: walletAbi,
    functionName: "walletOf",
    args: [owner]
  })

describe("the verdict on a payment of upto agrees with the facilitator of @x402/evm", () => {
  let fixture: EvmFixture
  let reference: ReferenceFacilitator
  let fixtures: UptoFixtures
  const { send } = settlingOn(() => fixture)

  beforeAll(async () => {
    fixture = await startEvmFixture({ blockTimeMs: 3_600_000 })
    reference = referenceFacilitator(fixture.chain, 0)
    fixtures = await prepared()
  })
  afterAll(() => fixture.end())

  const prepared = async (): Promise<UptoFixtures> => {
    const { chain, run } = fixture
    const payer = payerOf(chain.payer.privateKey)
    const [unapproved, poor] = [newPayer(), newPayer()]
    await run(chain.fund(unapproved.address, 1_000_000n))
    await run(chain.fund(poor.address, most - 1n))
    for (const { address } of [payer, poor]) await send(address, chain.asset, approveCall(permit2Address))
    const wallet = await walletOf(chain.rpcUrl, payer.address)
    await send(payer.address, walletFactoryAddress, deployWalletCall(payer.address))
    await run(chain.fund(wallet, 1_000_000n))
    await send(payer.address, wallet, executeCall(chain.asset, approveCall(permit2Address)))
    const [first, second] = chain.settlers.map(({ address }) => address)
    const facilitators = [first ?? "0x", second ?? "0x"] as const
    const used = await uptoPayment(payer, uptoRequirementsOf(facilitators[0]), { nowSeconds: nowSeconds() })
    const settled = await reference.settle(used, uptoRequirementsOf(facilitators[0]))
    assert.isTrue(settled.success)
    const cancelledNonce = newPermitNonce()
    await send(payer.address, permit2Address, invalidateNonceCall(BigInt(cancelledNonce)))
    const usedNonce = permitOf(used).permit2Authorization.nonce
    return { nowSeconds: nowSeconds(), facilitators, payer, unapproved, poor, usedNonce, cancelledNonce, wallet }
  }

  const ownVerdict = async (payload: PaymentPayload, requirements: PaymentRequirements) => {
    const { upto } = fixture.scheme
    const good = upto.check(payload, requirements, Date.now())
    if (Result.isFailure(good)) return good.failure.reason
    const outcome = await fixture.run(Effect.result(upto.simulate(good.success)))
    if (Result.isSuccess(outcome)) return "valid"
    return outcome.failure._tag === "PaymentRefused" ? outcome.failure.reason : outcome.failure.message
  }

  it.each(vectors.map((vector) => [vector.name, vector] as const))("%s", async (_, { make, verdict, other }) => {
    const { payload, requirements } = await make({ ...fixtures, nowSeconds: nowSeconds() })

    assert.strictEqual(await ownVerdict(payload, requirements), verdict)
    assert.strictEqual(await reference.verdict(payload, requirements), other ?? verdict, "the other facilitator")
  })

  it("for at least forty payments, each name once", () => {
    assert.isAtLeast(vectors.length, 40)
    assert.strictEqual(new Set(vectors.map(({ name }) => name)).size, vectors.length)
  })

  it("is good on what our own wallet signs, with the approval that it has not made", async () => {
    const requirements = uptoRequirementsOf(fixtures.facilitators[0])
    const key = generatePrivateKey()
    const wallet = await fixture.run(openWallet("evm", { key: Redacted.make(key), rpcUrl: fixture.chain.rpcUrl }))
    await fixture.run(fixture.chain.fund(wallet.address, most))
    const quote = { x402Version: 2 as const, resource: { url: "http://127.0.0.1/x" }, accepts: [requirements] }
    const payload = await fixture.run(wallet.sign({ requirements, quote, microUsd: most }))
    assert.isDefined(payload.extensions?.["eip2612GasSponsoring"])
    assert.strictEqual(await ownVerdict(payload, requirements), "valid")
    assert.strictEqual(await reference.verdict(payload, requirements), "valid")
    await send(wallet.address, fixture.chain.asset, approveCall(permit2Address))
    const approved = await fixture.run(wallet.sign({ requirements, quote, microUsd: most }))
    assert.isUndefined(approved.extensions)
    assert.strictEqual(await reference.verdict(approved, requirements), "valid")
  })

  it("says what the chain cannot tell yet, and takes a nonce in hex and in decimal for one payment", async () => {
    const { upto } = fixture.scheme
    const requirements = uptoRequirementsOf(fixtures.facilitators[0])
    const payload = await uptoPayment(newPayer(), requirements, { nowSeconds: nowSeconds() })
    const nonce = `0x${BigInt(permitOf(payload).permit2Authorization.nonce).toString(16)}`
    const [one, other] = [payload, forgedPermit(payload, { permit: { nonce } })].map((each) =>
      Result.getOrThrow(upto.check(each, requirements, Date.now()))
    )
    assert.strictEqual(one?.claimKey, other?.claimKey)
    assert.isUndefined(one?.isUnproven)
    const stranger = await uptoPayment(newPayer(), requirements, {
      nowSeconds: nowSeconds(),
      signed: { from: fixtures.payer.address }
    })
    assert.isTrue(Result.getOrThrow(upto.check(stranger, requirements, Date.now())).isUnproven)
  })
})

describe("settling a payment of upto", () => {
  let fixture: EvmFixture
  let requirements: PaymentRequirements
  const { balance, send } = settlingOn(() => fixture)

  beforeAll(async () => {
    fixture = await startEvmFixture({ settlerCount: 3 })
    requirements = uptoRequirementsOf(fixture.chain.settlers[0]?.address ?? "")
  })
  afterAll(() => fixture.end())

  const paying = async ({ approves = true, lastsSeconds = 600 } = {}) => {
    const payer = newPayer()
    await fixture.run(fixture.chain.fund(payer.address, most))
    if (approves) await send(payer.address, fixture.chain.asset, approveCall(permit2Address))
    const nowMs = Math.max(await fixture.nowMs(), Date.now())
    const now = Math.floor(nowMs / 1_000)
    const signed = { deadline: String(now + lastsSeconds) }
    const payload = await uptoPayment(payer, requirements, { nowSeconds: now, signed })
    const sent = approves ? payload : await withApproval(payer, payload)
    return { payer, good: Result.getOrThrow(fixture.scheme.upto.check(sent, requirements, nowMs)) }
  }
  type Good = Awaited<ReturnType<typeof paying>>["good"]

  const charging = (good: Good, charge: bigint) => Result.getOrThrow(fixture.scheme.upto.charging(good, charge))
  const settle = (good: Good, settler = 0) =>
    fixture.run(
      Effect.gen(function* () {
        const lease = yield* Effect.promise(() => fixture.lease(settler))
        const prepared = yield* fixture.scheme.upto.prepare(good, lease)
        return yield* Effect.result(fixture.scheme.upto.broadcast(prepared, good))
      })
    )
  const look = (good: Good, transaction: string | null = null) =>
    fixture.run(fixture.scheme.upto.look(good, transaction))

  it("moves the charge and not the maximum, and is found on the chain by whoever looks", async () => {
    const { payer, good } = await paying()
    const before = (await balance(payTo)) ?? 0n
    assert.deepStrictEqual(await look(good), { _tag: "Unused" })

    const charged = charging(good, 1_234n)
    const { transaction } = Result.getOrThrow(await settle(charged))

    assert.strictEqual(await balance(payer.address), most - 1_234n)
    assert.strictEqual(await balance(payTo), before + 1_234n)
    assert.deepStrictEqual(await look(charged, transaction), { _tag: "Settled", transaction })
    assert.deepStrictEqual(await look(charged), { _tag: "Settled", transaction })
    const { spent } = await fixture.run(fixture.scheme.funds({ ...good } as never, [good.claimKey]))
    assert.deepStrictEqual([...(spent ?? [])], [good.claimKey])
  })

  it("sends the approval along with the transfer", async () => {
    const { payer, good } = await paying({ approves: false })
    Result.getOrThrow(await settle(charging(good, 77n)))
    assert.strictEqual(await balance(payer.address), most - 77n)
  })

  it("charges once, however often and for how much it is settled", async () => {
    const { payer, good } = await paying()
    const { transaction } = Result.getOrThrow(await settle(charging(good, 500n)))
    const again = Result.getOrThrow(await settle(charging(good, 500n)))
    assert.strictEqual(again.transaction, transaction)
    const more = await settle(charging(good, 600n))
    assert.isTrue(Result.isFailure(more))
    assert.strictEqual(await balance(payer.address), most - 500n)
  })

  it("never charges more than was signed", async () => {
    const { good } = await paying()
    const { charging: charge } = fixture.scheme.upto
    for (const wrong of [most + 1n, -1n]) {
      const refused = Result.getOrThrow(Result.flip(charge(good, wrong)))
      assert.strictEqual(refused.reason, "invalid_upto_evm_payload_settlement_exceeds_amount")
    }
    // A settler that has gone mad is refused by the chain.
    const mad = await settle({ ...good, charge: most + 1n })
    assert.isTrue(Result.isFailure(mad))
  })

  it("cannot be settled by another of our accounts", async () => {
    const { payer, good } = await paying()
    const outcome = await settle(charging(good, 500n), 1)
    assert.isTrue(Result.isFailure(outcome))
    assert.strictEqual(await balance(payer.address), most)
    assert.deepStrictEqual(await look(good), { _tag: "Unused" })
  })

  it("is not taken for another payment of the same payer and sum", async () => {
    const { payer, good } = await paying()
    await fixture.run(fixture.chain.fund(payer.address, most))
    const nowMs = Math.max(await fixture.nowMs(), Date.now())
    const second = await uptoPayment(payer, requirements, { nowSeconds: Math.floor(nowMs / 1_000) })
    const other = Result.getOrThrow(fixture.scheme.upto.check(second, requirements, nowMs))
    const { transaction } = Result.getOrThrow(await settle(charging(good, 500n)))
    assert.deepStrictEqual(await look(charging(other, 500n), transaction), { _tag: "Unused" })
    const mine = Result.getOrThrow(await settle(charging(other, 500n)))
    assert.deepStrictEqual(await look(charging(good, 500n)), { _tag: "Settled", transaction })
    assert.deepStrictEqual(await look(charging(other, 500n)), { _tag: "Settled", transaction: mine.transaction })
  })

  it("is spent when its payer has cancelled the nonce, or used it elsewhere", async () => {
    const { payer, good } = await paying()
    const cancel = await send(payer.address, permit2Address, invalidateNonceCall(good.permit.nonce))
    assert.deepStrictEqual(await look(good), { _tag: "Spent", transaction: cancel.transactionHash })
    const refused = await fixture.run(Effect.flip(fixture.scheme.upto.recheck(good)))
    assert.strictEqual(refused._tag === "PaymentRefused" && refused.code, "PAYMENT_REPLAY")
  })

  it("is refused when the payer has emptied its wallet, or taken its approval back, since the verification", async () => {
    const { payer, good } = await paying()
    await fixture.run(fixture.scheme.upto.simulate(good))
    await send(payer.address, fixture.chain.asset, approveCall(permit2Address, 0n))
    const refused = await fixture.run(Effect.flip(fixture.scheme.upto.recheck(good)))
    assert.strictEqual(refused._tag === "PaymentRefused" && refused.code, "PERMIT2_ALLOWANCE_REQUIRED")
    const outcome = await settle(good)
    assert.strictEqual(Result.getOrThrow(Result.flip(outcome))._tag, "SettlementRefused")
  })

  it("deploys the wallet that its payer's first payment is to deploy, by an allowed factory alone", async () => {
    const { chain, run, schemeWith } = fixture
    const owner = newPayer()
    const wallet = await walletOf(chain.rpcUrl, owner.address)
    await run(chain.fund(wallet, most))
    const { upto } = await schemeWith({ walletFactories: [walletFactoryAddress] })
    const nowMs = Math.max(await fixture.nowMs(), Date.now())
    const signing = { nowSeconds: Math.floor(nowMs / 1_000), signed: { from: wallet } }
    const wrapped = async (signer: typeof owner) => {
      const payload = await uptoPayment(signer, requirements, signing)
      const signature = serializeErc6492Signature({
        address: walletFactoryAddress,
        data: deployWalletCall(owner.address),
        signature: permitOf(payload).signature
      })
      return withApproval(owner, forgedPermit(payload, { signature }))
    }
    const good = Result.getOrThrow(upto.check(await wrapped(owner), requirements, nowMs))
    assert.isTrue(good.isUnproven)
    await run(upto.simulate(good))
    const elsewhere = await run(Effect.flip(fixture.scheme.upto.simulate(good)))
    assert.strictEqual(elsewhere._tag === "PaymentRefused" && elsewhere.reason, "eip6492_factory_not_allowed")
    const forged = Result.getOrThrow(upto.check(await wrapped(newPayer()), requirements, nowMs))
    assert.strictEqual((await run(Effect.flip(upto.simulate(forged))))._tag, "PaymentRefused")

    const { prerequisite } = upto
    if (prerequisite === undefined) return assert.fail("it deploys nothing")
    assert.isTrue(await run(prerequisite.isNeeded(good)))
    await run(prerequisite.broadcast(await run(prerequisite.prepare(good, await fixture.lease()))))
    assert.isFalse(await run(prerequisite.isNeeded(good)))
    const charged = Result.getOrThrow(upto.charging(good, 321n))
    await run(upto.recheck(charged))
    const prepared = await run(upto.prepare(charged, await fixture.lease()))
    await run(upto.broadcast(prepared, charged))
    assert.strictEqual(await balance(wallet), most - 321n)
  })

  it("expires when its deadline is over in a final block", async () => {
    const { good } = await paying({ lastsSeconds: 30 })
    await fixture.run(fixture.chain.advance(40))
    await fixture.run(fixture.chain.rpc("anvil_mine", ["0x4", "0x1"]))
    const late = { ...good, validBeforeMs: 0 }
    assert.deepStrictEqual(await look(late), { _tag: "Expired" })
  })
})
