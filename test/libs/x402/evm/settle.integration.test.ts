import { Effect, Exit, Result, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { PaymentPayload } from "#contracts"
import { transferCall } from "../../../../dev/chain/evm/token.ts"
import type { EvmPayment } from "../../../../libs/x402/evm/EvmPayment.ts"
import { openEvmScheme } from "../../../../libs/x402/evm/exact-evm.ts"
import { hexOf, readQuantity } from "../../../../libs/x402/evm/hex.ts"
import { balanceOf, transferWithAuthorization } from "../../../../libs/x402/evm/token-calls.ts"
import { cancelCall } from "./calls.ts"
import { cancellation, newPayer, payment, payTo, requirementsOf, signedOf } from "./payments.ts"
import { checked, type Rig, startRig } from "./rig.ts"

const amount = 25_685n

describe("settling on an EVM chain", () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await startRig({ settlerCount: 4 }, { finality: { confirmations: 2 } })
  })
  afterAll(() => rig.end())

  const funded = async (units = amount) => {
    const payer = newPayer()
    await rig.run(rig.chain.fund(payer.address, units))
    return payer
  }
  const signedPayment = async (lastsSeconds = 600) => {
    const payer = await funded()
    const requirements = requirementsOf()
    // The chain's time is moved by tests; a payer's clock is the chain's here.
    const nowMs = Math.max(await rig.nowMs(), Date.now())
    const nowSeconds = Math.floor(nowMs / 1_000)
    const payload = await payment(payer, requirements, {
      nowSeconds,
      signed: { validBefore: String(nowSeconds + lastsSeconds) }
    })
    return { payer, payload, good: checked(rig.scheme, payload, requirements, nowMs) }
  }
  const settle = (good: EvmPayment, settler = 0) =>
    Effect.gen(function* () {
      const lease = yield* Effect.promise(() => rig.lease(settler))
      const prepared = yield* rig.scheme.prepare(good, lease)
      return yield* rig.scheme.broadcast(prepared, good)
    })
  const balance = async (address: string) =>
    readQuantity(await rig.run(rig.scheme.node.call(rig.chain.asset, balanceOf(address))))
  const send = (from: string, to: string, data: string) =>
    rig.run(
      Effect.andThen(
        rig.chain.rpc("anvil_impersonateAccount", [from]),
        Effect.andThen(
          rig.chain.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"]),
          rig.chain.rpc("eth_sendTransactionSync", [{ from, to, data }])
        )
      )
    ) as Promise<{ readonly transactionHash: string }>

  it("moves exactly the amount to the receiver, with the transaction that was announced before", async () => {
    const { payer, good } = await signedPayment()
    const before = (await balance(payTo)) ?? 0n

    const prepared = await rig.run(rig.scheme.prepare(good, await rig.lease()))
    const settled = await rig.run(rig.scheme.broadcast(prepared, good))

    assert.deepStrictEqual(settled, {
      transaction: prepared.transaction,
      network: "eip155:84532",
      payer: payer.address.toLowerCase(),
      amount
    })
    assert.strictEqual(await balance(payer.address), 0n)
    assert.strictEqual(await balance(payTo), before + amount)
    const standing = { _tag: "Settled", transaction: settled.transaction } as const
    assert.deepStrictEqual(await rig.run(rig.scheme.look(good, null)), standing)
    assert.deepStrictEqual(await rig.run(rig.scheme.look(good, settled.transaction)), standing)
  })

  it("pays once when three settlers settle one payment at the same time", async () => {
    const { good } = await signedPayment()
    const before = (await balance(payTo)) ?? 0n
    const prepared = await Promise.all(
      [0, 1, 2].map(async (settler) => rig.run(rig.scheme.prepare(good, await rig.lease(settler))))
    )

    const settled = await Promise.all(prepared.map((one) => rig.run(rig.scheme.broadcast(one, good))))

    const winner = settled[0]?.transaction
    assert.isTrue(prepared.some(({ transaction }) => transaction === winner))
    assert.isTrue(settled.every(({ transaction }) => transaction === winner))
    assert.strictEqual(await balance(payTo), before + amount)
  })

  it("says the same of a transaction that is sent again after it was made", async () => {
    const { good } = await signedPayment()
    const prepared = await rig.run(rig.scheme.prepare(good, await rig.lease()))
    const first = await rig.run(rig.scheme.broadcast(prepared, good))

    const again = await rig.run(rig.scheme.broadcast(prepared, good))

    assert.deepStrictEqual(again, first)
  })

  it("sends nothing when the payer has cancelled since it was verified", async () => {
    const { payer, payload, good } = await signedPayment()
    await rig.run(rig.scheme.simulate(good))
    const nonce = signedOf(payload).authorization.nonce
    const withdrawal = cancelCall(payer.address, nonce, await cancellation(payer, nonce))
    const cancelled = await send(payer.address, rig.chain.asset, hexOf(withdrawal))

    const outcome = await rig.run(Effect.flip(rig.scheme.recheck(good)))

    assert.deepInclude(outcome, { code: "PAYMENT_REPLAY", reason: "invalid_exact_evm_nonce_already_used" })
    assert.deepStrictEqual(await rig.run(rig.scheme.look(good, null)), {
      _tag: "Spent",
      transaction: cancelled.transactionHash
    })
  })

  it("is refused for good when the payer cancels in the moment before it is sent", async () => {
    const { payer, payload, good } = await signedPayment()
    const prepared = await rig.run(rig.scheme.prepare(good, await rig.lease()))
    const nonce = signedOf(payload).authorization.nonce
    await send(
      payer.address,
      rig.chain.asset,
      hexOf(cancelCall(payer.address, nonce, await cancellation(payer, nonce)))
    )

    const outcome = await rig.run(Effect.flip(rig.scheme.broadcast(prepared, good)))

    assert.deepInclude(outcome, {
      _tag: "SettlementRefused",
      code: "PAYMENT_REPLAY",
      reason: "invalid_exact_evm_nonce_already_used",
      transaction: prepared.transaction
    })
  })

  it("is refused when the payer empties the wallet in the moment before it is sent", async () => {
    const { payer, good } = await signedPayment()
    const prepared = await rig.run(rig.scheme.prepare(good, await rig.lease()))
    await send(payer.address, rig.chain.asset, transferCall(newPayer().address, 1n))

    const outcome = await rig.run(Effect.flip(rig.scheme.broadcast(prepared, good)))

    assert.deepInclude(outcome, {
      _tag: "SettlementRefused",
      code: "PAYMENT_UNFUNDED",
      reason: "invalid_exact_evm_insufficient_balance"
    })
    assert.deepStrictEqual(await rig.run(rig.scheme.look(good, prepared.transaction)), { _tag: "Unused" })
  })

  it("counts as paid when an observer submits the authorization first", async () => {
    const { good } = await signedPayment()
    const prepared = await rig.run(rig.scheme.prepare(good, await rig.lease()))
    const data = hexOf(transferWithAuthorization(good.authorization, good.signature))
    const observed = await send(newPayer().address, rig.chain.asset, data)

    const settled = await rig.run(rig.scheme.broadcast(prepared, good))

    assert.strictEqual(settled.transaction, observed.transactionHash)
    assert.notStrictEqual(settled.transaction, prepared.transaction)
  })

  it("is over for good only when its time has passed in a final block", async () => {
    const { good } = await signedPayment(30)
    const scheme = await rig.schemeWith({ finality: { confirmations: 3 } })
    await rig.run(rig.chain.advance(60))
    const late = { ...good, validBeforeMs: 0 }

    const atOnce = await rig.run(scheme.look(late, null))
    await rig.run(Effect.repeat(rig.chain.rpc("evm_mine", []), { times: 3 }))
    const after = await rig.run(scheme.look(late, null))

    assert.strictEqual(atOnce._tag, "Undecided")
    assert.deepStrictEqual(after, { _tag: "Expired" })
  })

  it("reads every transfer to the receiver once, and goes on where it was left", async () => {
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

  it("estimates gas where it is told to, within its cap", async () => {
    const { good } = await signedPayment()
    const scheme = await rig.schemeWith({ gas: null })
    const tight = await rig.schemeWith({ gas: null, gasMax: 30_000n })

    const refused = await rig.run(Effect.flip(tight.prepare(good, await rig.lease())))
    const prepared = await rig.run(scheme.prepare(good, await rig.lease()))
    const settled = await rig.run(scheme.broadcast(prepared, good))

    assert.strictEqual(refused._tag, "ChainUnavailable")
    assert.strictEqual(settled.transaction, prepared.transaction)
  })

  it("signs nothing while the chain asks for more than the cap", async () => {
    const { good } = await signedPayment()
    const scheme = await rig.schemeWith({ feeWeiMax: 1n })

    const outcome = await rig.run(Effect.flip(scheme.prepare(good, await rig.lease())))

    assert.strictEqual(outcome._tag, "ChainUnavailable")
  })

  it("begins with a look whether the chain and its token are those of the configuration", async () => {
    const probe = (scheme: Rig["scheme"], name: string) => rig.run(Effect.result(scheme.probe(name, "2")))
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
    const unnamed = await rig.run(Effect.flip(openEvmScheme({ network: "solana:x", asset: "", payTo, rpcUrls: [] })))
    assert.strictEqual(unnamed._tag, "NotAnEvmNetwork")
  })

  it("is the same payment to the claims however it is written", async () => {
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
