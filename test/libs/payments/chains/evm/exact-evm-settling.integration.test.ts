import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { hexOf } from "../../../../../libs/payments/chains/evm/encoding.ts"
import { transferWithAuthorization } from "../../../../../libs/payments/chains/evm/token.ts"
import { cancelCall, transferCall } from "../../../../../dev/fixtures/evm/token-calls.ts"
import { cancellation, newPayer, payTo, signedOf } from "../../../../../dev/fixtures/evm/payments.ts"
import type { EvmFixture } from "../../../../../dev/fixtures/evm/fixture.ts"
import { amount, settlingOn, startSettlingFixture } from "./settling-fixture.ts"

describe("settling on an EVM chain", () => {
  let fixture: EvmFixture
  beforeAll(async () => {
    fixture = await startSettlingFixture()
  })
  afterAll(() => fixture.end())
  const { balance, send, signedPayment } = settlingOn(() => fixture)

  it("moves exactly the amount to the receiver, with the transaction announced before", async () => {
    const { payer, good } = await signedPayment()
    const before = (await balance(payTo)) ?? 0n

    const prepared = await fixture.run(fixture.scheme.prepare(good, await fixture.lease()))
    const settled = await fixture.run(fixture.scheme.broadcast(prepared, good))

    assert.strictEqual(settled.transaction, prepared.transaction)
    assert.strictEqual(await balance(payer.address), 0n)
    assert.strictEqual(await balance(payTo), before + amount)
    const standing = { _tag: "Settled", transaction: settled.transaction } as const
    assert.deepStrictEqual(await fixture.run(fixture.scheme.look(good, null)), standing)
    assert.deepStrictEqual(await fixture.run(fixture.scheme.look(good, settled.transaction)), standing)
  })

  it("pays once when three settlers settle one payment at the same time", async () => {
    const { good } = await signedPayment()
    const before = (await balance(payTo)) ?? 0n
    const prepared = await Promise.all(
      [0, 1, 2].map(async (settler) => fixture.run(fixture.scheme.prepare(good, await fixture.lease(settler))))
    )

    const settled = await Promise.all(prepared.map((one) => fixture.run(fixture.scheme.broadcast(one, good))))

    const winner = settled[0]?.transaction
    assert.isTrue(prepared.some(({ transaction }) => transaction === winner))
    assert.isTrue(settled.every(({ transaction }) => transaction === winner))
    assert.strictEqual(await balance(payTo), before + amount)
  })

  it("can pay for as many transfers as its account says, and for none without the chain's coin", async () => {
    const { good } = await signedPayment()
    const lease = await fixture.lease(3)
    const { address } = lease.key
    const hold = (wei: bigint) => fixture.run(fixture.chain.rpc("anvil_setBalance", [address, `0x${wei.toString(16)}`]))
    const left = () => fixture.run(fixture.scheme.transfersLeft(address))
    const enough = 10n ** 18n
    await hold(enough)
    const least = enough / (await left()) + 1n
    await hold(least - least / 10n)
    assert.strictEqual(await left(), 0n)
    await hold(least + least / 10n)
    assert.strictEqual(await left(), 1n)
    await fixture.run(fixture.scheme.broadcast(await fixture.run(fixture.scheme.prepare(good, lease)), good))
    await hold(enough)
  })

  it("has the same outcome for a transaction that is sent again after it was mined", async () => {
    const { good } = await signedPayment()
    const prepared = await fixture.run(fixture.scheme.prepare(good, await fixture.lease()))
    const first = await fixture.run(fixture.scheme.broadcast(prepared, good))

    const again = await fixture.run(fixture.scheme.broadcast(prepared, good))

    assert.deepStrictEqual(again, first)
  })

  it("sends nothing when the payer has cancelled since the verification", async () => {
    const { payer, payload, good } = await signedPayment()
    await fixture.run(fixture.scheme.simulate(good))
    const nonce = signedOf(payload).authorization.nonce
    const withdrawal = cancelCall(payer.address, nonce, await cancellation(payer, nonce))
    const cancelled = await send(payer.address, fixture.chain.asset, hexOf(withdrawal))

    const outcome = await fixture.run(Effect.flip(fixture.scheme.recheck(good)))

    assert.deepInclude(outcome, { code: "PAYMENT_REPLAY", reason: "invalid_exact_evm_nonce_already_used" })
    assert.deepStrictEqual(await fixture.run(fixture.scheme.look(good, null)), {
      _tag: "Spent",
      transaction: cancelled.transactionHash
    })
  })

  it("is refused permanently when the payer cancels in the moment before the transaction is sent", async () => {
    const { payer, payload, good } = await signedPayment()
    const prepared = await fixture.run(fixture.scheme.prepare(good, await fixture.lease()))
    const nonce = signedOf(payload).authorization.nonce
    await send(
      payer.address,
      fixture.chain.asset,
      hexOf(cancelCall(payer.address, nonce, await cancellation(payer, nonce)))
    )

    const outcome = await fixture.run(Effect.flip(fixture.scheme.broadcast(prepared, good)))

    assert.deepInclude(outcome, {
      _tag: "SettlementRefused",
      code: "PAYMENT_REPLAY",
      reason: "invalid_exact_evm_nonce_already_used",
      transaction: prepared.transaction
    })
  })

  it("is refused when the payer empties the wallet in the moment before the transaction is sent", async () => {
    const { payer, good } = await signedPayment()
    const prepared = await fixture.run(fixture.scheme.prepare(good, await fixture.lease()))
    await send(payer.address, fixture.chain.asset, transferCall(newPayer().address, 1n))

    const outcome = await fixture.run(Effect.flip(fixture.scheme.broadcast(prepared, good)))

    assert.deepInclude(outcome, {
      _tag: "SettlementRefused",
      code: "PAYMENT_UNFUNDED",
      reason: "invalid_exact_evm_insufficient_balance"
    })
    assert.deepStrictEqual(await fixture.run(fixture.scheme.look(good, prepared.transaction)), { _tag: "Unused" })
  })

  it("counts as paid when an observer submits the authorization first", async () => {
    const { good } = await signedPayment()
    const prepared = await fixture.run(fixture.scheme.prepare(good, await fixture.lease()))
    const data = hexOf(transferWithAuthorization(good.authorization, good.signature))
    const observed = await send(newPayer().address, fixture.chain.asset, data)

    const settled = await fixture.run(fixture.scheme.broadcast(prepared, good))

    assert.strictEqual(settled.transaction, observed.transactionHash)
    assert.notStrictEqual(settled.transaction, prepared.transaction)
  })

  it("is final only when its time has passed in a final block", async () => {
    const { good } = await signedPayment(30)
    await fixture.run(fixture.chain.advance(60))
    const late = { ...good, validBeforeMs: 0 }

    const atOnce = await fixture.run(fixture.scheme.look(late, null))
    await fixture.run(Effect.repeat(fixture.chain.rpc("evm_mine", []), { times: 3 }))
    const after = await fixture.run(fixture.scheme.look(late, null))

    assert.strictEqual(atOnce._tag, "Undecided")
    assert.deepStrictEqual(after, { _tag: "Expired" })
  })
})
