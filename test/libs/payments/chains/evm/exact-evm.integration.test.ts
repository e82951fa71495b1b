import { Effect, Exit, Result, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { PaymentPayload } from "#payments/contract"
import { manyCallsAddress } from "../../../../../libs/payments/chains/evm/token.ts"
import { payTo, requirementsOf, signedOf } from "../../../../../dev/fixtures/evm/payments.ts"
import { checked, type EvmFixture } from "../../../../../dev/fixtures/evm/fixture.ts"
import { amount, settlingOn, startSettlingFixture } from "./settling-fixture.ts"

describe("settling on an EVM chain", () => {
  let fixture: EvmFixture
  beforeAll(async () => {
    fixture = await startSettlingFixture()
  })
  afterAll(() => fixture.end())
  const { settle, signedPayment } = settlingOn(() => fixture)

  it("reads every transfer to the receiver once, and resumes from its cursor", async () => {
    const first = await signedPayment()
    const second = await signedPayment()
    const settled = await fixture.run(settle(first.good, 3))
    await fixture.run(Effect.repeat(fixture.chain.rpc("evm_mine", []), { times: 3 }))
    const scheme = await fixture.schemeWith({ logBlocksMax: 3n, logPagesMax: 1_000 })
    const all = await fixture.run(Stream.runCollect(scheme.transfers(null)))
    const last = all.at(-1)
    const again = await fixture.run(settle(second.good, 3))
    await fixture.run(Effect.repeat(fixture.chain.rpc("evm_mine", []), { times: 3 }))

    const rest = await fixture.run(Stream.runCollect(scheme.transfers(last?.position ?? null)))

    assert.strictEqual(last?.transaction, settled.transaction)
    assert.strictEqual(last?.payer, first.good.payer)
    assert.strictEqual(last?.amount, amount)
    assert.strictEqual(new Set(all.map(({ position }) => position)).size, all.length)
    assert.deepStrictEqual(
      rest.map(({ transaction }) => transaction),
      [again.transaction]
    )
    const unreadable = await fixture.run(Effect.exit(Stream.runCollect(scheme.transfers("nonsense"))))
    assert.isTrue(Exit.isFailure(unreadable))
  })

  it("reads a payer's balance together with the payments already taken from it", async () => {
    const { good } = await signedPayment()
    const other = `${good.claimKey.slice(0, good.claimKey.lastIndexOf("."))}.0x${"ab".repeat(32)}`
    const asked = () => fixture.run(fixture.scheme.funds(good, [good.claimKey, other]))

    assert.deepStrictEqual(await asked(), { balance: amount, spent: new Set<string>() })
    await fixture.run(settle(good, 3))
    assert.deepStrictEqual(await asked(), { balance: 0n, spent: new Set([good.claimKey]) })
    assert.deepStrictEqual(await fixture.run(fixture.scheme.funds(good, [])), { balance: 0n, spent: new Set<string>() })
    await fixture.run(fixture.chain.rpc("anvil_setCode", [manyCallsAddress, "0x"]))
    assert.deepStrictEqual(await asked(), { balance: 0n, spent: null })
  })

  it("signs nothing while the chain's fee is above the cap", async () => {
    const { good } = await signedPayment()
    const scheme = await fixture.schemeWith({ feeWeiMax: 1n })

    const outcome = await fixture.run(Effect.flip(scheme.prepare(good, await fixture.lease())))

    assert.strictEqual(outcome._tag, "ChainUnavailable")
  })

  it("first checks that the chain and its token are those of the configuration", async () => {
    const probe = (scheme: EvmFixture["scheme"], name: string) =>
      fixture.run(Effect.result(scheme.probe({ name, version: "2", decimals: 6 })))
    const elsewhere = await fixture.schemeWith({ network: "eip155:8453" })
    const noToken = await fixture.schemeWith({ asset: payTo })

    assert.isTrue(Result.isSuccess(await probe(fixture.scheme, "USDC")))
    for (const outcome of [
      await probe(fixture.scheme, "USD Coin"),
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

    const same = checked(fixture.scheme, rewritten, requirements, good.validBeforeMs - 600_000)

    assert.strictEqual(same.claimKey, good.claimKey)
    assert.strictEqual(same.payer, good.payer)
  })
})
