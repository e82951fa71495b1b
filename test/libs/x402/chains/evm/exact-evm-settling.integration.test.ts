import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { transferCall } from "../../../../../dev/chain/evm/token.ts"
import { hexOf } from "../../../../../libs/x402/chains/evm/encoding.ts"
import { transferWithAuthorization } from "../../../../../libs/x402/chains/evm/token.ts"
import { cancelCall } from "./calls.ts"
import { cancellation, newPayer, payTo, signedOf } from "../../../../../dev/fixtures/evm/payments.ts"
import type { Rig } from "../../../../../dev/fixtures/evm/fixture.ts"
import { amount, settlingOn, startSettlingRig } from "./settling-fixture.ts"

describe("settling on an EVM chain", () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await startSettlingRig()
  })
  afterAll(() => rig.end())
  const { balance, send, signedPayment } = settlingOn(() => rig)

  it("moves exactly the amount to the receiver, with the transaction announced before", async () => {
    const { payer, good } = await signedPayment()
    const before = (await balance(payTo)) ?? 0n

    const prepared = await rig.run(rig.scheme.prepare(good, await rig.lease()))
    const settled = await rig.run(rig.scheme.broadcast(prepared, good))

    assert.strictEqual(settled.transaction, prepared.transaction)
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

  it("has the same outcome for a transaction that is sent again after it was mined", async () => {
    const { good } = await signedPayment()
    const prepared = await rig.run(rig.scheme.prepare(good, await rig.lease()))
    const first = await rig.run(rig.scheme.broadcast(prepared, good))

    const again = await rig.run(rig.scheme.broadcast(prepared, good))

    assert.deepStrictEqual(again, first)
  })

  it("sends nothing when the payer has cancelled since the verification", async () => {
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

  it("is refused for good when the payer cancels in the moment before the transaction is sent", async () => {
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

  it("is refused when the payer empties the wallet in the moment before the transaction is sent", async () => {
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
    await rig.run(rig.chain.advance(60))
    const late = { ...good, validBeforeMs: 0 }

    const atOnce = await rig.run(rig.scheme.look(late, null))
    await rig.run(Effect.repeat(rig.chain.rpc("evm_mine", []), { times: 3 }))
    const after = await rig.run(rig.scheme.look(late, null))

    assert.strictEqual(atOnce._tag, "Undecided")
    assert.deepStrictEqual(after, { _tag: "Expired" })
  })
})
