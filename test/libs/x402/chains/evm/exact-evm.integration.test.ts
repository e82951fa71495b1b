import { Effect, Exit, Result, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { PaymentPayload } from "#contracts"
import { manyCallsAddress } from "../../../../../libs/x402/chains/evm/token.ts"
import { payTo, requirementsOf, signedOf } from "../../../../../dev/fixtures/evm/payments.ts"
import { checked, type Rig } from "../../../../../dev/fixtures/evm/fixture.ts"
import { amount, settlingOn, startSettlingRig } from "./settling-fixture.ts"

describe("settling on an EVM chain", () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await startSettlingRig()
  })
  afterAll(() => rig.end())
  const { settle, signedPayment } = settlingOn(() => rig)

  it("reads every transfer to the receiver once, and goes on from its cursor", async () => {
    const first = await signedPayment()
    const second = await signedPayment()
    const settled = await rig.run(settle(first.good, 3))
    await rig.run(Effect.repeat(rig.chain.rpc("evm_mine", []), { times: 3 }))
    const scheme = await rig.schemeWith({ logBlocksMax: 3n, logPagesMax: 1_000 })
    const all = await rig.run(Stream.runCollect(scheme.transfers(null)))
    const last = all.at(-1)
    const again = await rig.run(settle(second.good, 3))
    await rig.run(Effect.repeat(rig.chain.rpc("evm_mine", []), { times: 3 }))

    const rest = await rig.run(Stream.runCollect(scheme.transfers(last?.position ?? null)))

    assert.strictEqual(last?.transaction, settled.transaction)
    assert.strictEqual(last?.payer, first.good.payer)
    assert.strictEqual(last?.amount, amount)
    assert.strictEqual(new Set(all.map(({ position }) => position)).size, all.length)
    assert.deepStrictEqual(
      rest.map(({ transaction }) => transaction),
      [again.transaction]
    )
    const unreadable = await rig.run(Effect.exit(Stream.runCollect(scheme.transfers("nonsense"))))
    assert.isTrue(Exit.isFailure(unreadable))
  })

  it("reads a payer's balance together with the payments already taken from it", async () => {
    const { good } = await signedPayment()
    const other = `${good.claimKey.slice(0, good.claimKey.lastIndexOf("."))}.0x${"ab".repeat(32)}`
    const asked = () => rig.run(rig.scheme.funds(good, [good.claimKey, other]))

    assert.deepStrictEqual(await asked(), { balance: amount, spent: new Set<string>() })
    await rig.run(settle(good, 3))
    assert.deepStrictEqual(await asked(), { balance: 0n, spent: new Set([good.claimKey]) })
    assert.deepStrictEqual(await rig.run(rig.scheme.funds(good, [])), { balance: 0n, spent: new Set<string>() })
    await rig.run(rig.chain.rpc("anvil_setCode", [manyCallsAddress, "0x"]))
    assert.deepStrictEqual(await asked(), { balance: 0n, spent: null })
  })

  it("signs nothing while the chain's fee is above the cap", async () => {
    const { good } = await signedPayment()
    const scheme = await rig.schemeWith({ feeWeiMax: 1n })

    const outcome = await rig.run(Effect.flip(scheme.prepare(good, await rig.lease())))

    assert.strictEqual(outcome._tag, "ChainUnavailable")
  })

  it("first checks that the chain and its token are those of the configuration", async () => {
    const probe = (scheme: Rig["scheme"], name: string) =>
      rig.run(Effect.result(scheme.probe({ name, version: "2", decimals: 6 })))
    const elsewhere = await rig.schemeWith({ network: "eip155:8453" })
    const noToken = await rig.schemeWith({ asset: payTo })

    assert.isTrue(Result.isSuccess(await probe(rig.scheme, "USDC")))
    for (const outcome of [
      await probe(rig.scheme, "USD Coin"),
      await probe(elsewhere, "USDC"),
      await probe(noToken, "USDC")
    ]) {
      assert.strictEqual(Result.isFailure(outcome) ? outcome.failure._tag : "good", "ChainMismatch")
    }
  })

  it("has one claim key for any spelling of a payment", async () => {
    const { payload, good } = await signedPayment()
    const { signature, authorization } = signedOf(payload)
    const rewritten: PaymentPayload = {
      ...payload,
      payload: {
        signature: `0x${signature.slice(2).toUpperCase()}`,
        authorization: {
          ...authorization,
          from: authorization.from.toLowerCase(),
          to: authorization.to.toLowerCase(),
          nonce: `0x${authorization.nonce.slice(2).toUpperCase()}`
        }
      }
    }
    const requirements = requirementsOf({ asset: good.asset })

    const same = checked(rig.scheme, rewritten, requirements, good.validBeforeMs - 600_000)

    assert.strictEqual(same.claimKey, good.claimKey)
    assert.strictEqual(same.payer, good.payer)
  })
})
