import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import {
  type CheckedPayment,
  type Facilitator,
  type PaymentScheme,
  SettlementPending,
  SettlementRefused
} from "#payments"
import { checked, type EvmFixture, startEvmFixture } from "../../../../dev/fixtures/evm/fixture.ts"
import { newPayer, payerOf, payment, requirementsOf } from "../../../../dev/fixtures/evm/payments.ts"
import type { EvmPayment } from "../../../../libs/payments/chains/evm/payment.ts"
import type { CheckedSvmPayment } from "../../../../libs/payments/chains/solana/payment.ts"
import { remoteScheme } from "../../../../libs/payments/facilitator/Facilitator.ts"
import { egress, leaseOf, openScheme, startScene } from "../chains/solana/fixture.ts"
import { base64Of, memo, payloadOf } from "../chains/solana/transactions.ts"

type Settles = Facilitator["settle"]

/** A facilitator that only settles, and a count of its reported settlements that the chain did not have. */
const remoteOf = (local: PaymentScheme, settle: Settles, confirmMs = 300) => {
  const counted = { unconfirmed: 0 }
  const facilitator: Facilitator = {
    settle,
    verify: () => Effect.void,
    reach: Effect.void
  }
  const onUnconfirmed = () => void (counted.unconfirmed += 1)
  const scheme = remoteScheme(local, facilitator, { confirmMs, onUnconfirmed })
  const settlePayment = (payment: CheckedPayment) =>
    Effect.flatMap(scheme.prepare(payment, { key: noKey, nonce: null }), (prepared) =>
      scheme.broadcast(prepared, payment)
    )
  return { scheme, counted, settle: settlePayment }
}

const noKey = { network: "", address: "", sign: () => Effect.die("nothing is signed") }
const reports =
  (transaction: string): Settles =>
  () =>
    Effect.succeed({ transaction })
const silent = () => Effect.fail(new SettlementPending({ transaction: null, detail: "no answer" }))
const invented = `0x${"12".repeat(32)}`

describe("a remote facilitator on an EVM chain", () => {
  let fixture: EvmFixture
  beforeAll(async () => {
    fixture = await startEvmFixture()
  })
  afterAll(() => fixture.end())

  const signed = async (payer = newPayer()) => {
    const requirements = requirementsOf()
    await fixture.run(fixture.chain.fund(payer.address, 25_685n))
    const nowMs = Date.now()
    const payload = await payment(payer, requirements, { nowSeconds: Math.floor(nowMs / 1_000) })
    return checked(fixture.scheme, payload, requirements, nowMs)
  }
  const move = async (good: EvmPayment) => {
    const prepared = await fixture.run(fixture.scheme.prepare(good, await fixture.lease()))
    return (await fixture.run(fixture.scheme.broadcast(prepared, good))).transaction
  }

  it("is trusted when the chain has the transfer", async () => {
    const good = await signed()
    const made = await move(good)
    const { settle, counted } = remoteOf(fixture.scheme, reports(made))
    assert.strictEqual((await fixture.run(settle(good))).transaction, made)
    assert.strictEqual(counted.unconfirmed, 0)
  })

  it("gets a moment when the chain has the transfer late", async () => {
    const good = await signed()
    const { settle } = remoteOf(fixture.scheme, reports(invented), 10_000)
    const [settled, made] = await Promise.all([fixture.run(settle(good)), move(good)])
    assert.strictEqual(settled.transaction, made)
  })

  it.each([
    ["an invented hash", invented],
    ["what is no hash", "done"],
    ["a hash with words behind it", `${invented} and more`]
  ])("is not trusted for %s", async (_what, named) => {
    const { settle, counted } = remoteOf(fixture.scheme, reports(named))
    const outcome = await fixture.run(Effect.flip(settle(await signed())))
    assert.deepInclude(outcome, { _tag: "SettlementPending", transaction: null })
    assert.strictEqual(counted.unconfirmed, 1)
  })

  it("is not trusted for an older payment of the same payer and amount", async () => {
    const payer = payerOf(`0x${"77".repeat(32)}`)
    const older = await move(await signed(payer))
    const { settle, scheme } = remoteOf(fixture.scheme, reports(older))
    const good = await signed(payer)
    assert.deepInclude(await fixture.run(Effect.flip(settle(good))), { _tag: "SettlementPending", transaction: null })
    assert.deepStrictEqual(await fixture.run(scheme.look(good, older)), { _tag: "Unused" })
  })

  it("is found to have settled although it does not say so", async () => {
    const good = await signed()
    const made = await move(good)
    const { settle, counted } = remoteOf(fixture.scheme, silent)
    assert.strictEqual((await fixture.run(settle(good))).transaction, made)
    assert.strictEqual(counted.unconfirmed, 0)
  })

  it("leaves a settlement open that it has not made and does not mention", async () => {
    const { settle, counted } = remoteOf(fixture.scheme, silent)
    assert.strictEqual((await fixture.run(Effect.flip(settle(await signed()))))._tag, "SettlementPending")
    assert.strictEqual(counted.unconfirmed, 0)
  })

  it("may refuse", async () => {
    const refusal = new SettlementRefused({
      code: "PAYMENT_UNFUNDED",
      reason: "insufficient_funds",
      payer: null,
      transaction: null
    })
    const { settle } = remoteOf(fixture.scheme, () => Effect.fail(refusal))
    assert.strictEqual(await fixture.run(Effect.flip(settle(await signed()))), refusal)
  })
})

describe("a remote facilitator on Solana", () => {
  /** Theirs signs and sends; ours only looks. */
  const scene = Effect.gen(function* () {
    const { chain, scheme: theirs, make } = yield* startScene()
    const ours = yield* openScheme(chain, { isRemote: true })
    const pay = Effect.fnUntraced(function* (text: string) {
      const requirements = make.requirements()
      const payload = payloadOf(base64Of(make.wire({ tail: [memo(text)] })), requirements)
      return yield* Effect.fromResult(ours.check(payload, requirements, yield* Clock.currentTimeMillis))
    })
    const move = Effect.fnUntraced(function* (good: CheckedSvmPayment) {
      return (yield* theirs.broadcast(yield* theirs.prepare(good, leaseOf(chain)), good)).transaction
    })
    return { chain, ours, pay, move }
  })
  const live = (name: string, test: Effect.Effect<void, unknown, Effect.Services<typeof scene>>) =>
    it.live(name, () => test.pipe(Effect.scoped, Effect.provide(egress)))

  live(
    "is believed when the transaction is the very payment, however it is named or not",
    Effect.gen(function* () {
      const { ours, pay, move } = yield* scene
      const good = yield* pay("one")
      assert.deepStrictEqual(yield* ours.look(good, null), { _tag: "Unused" })
      const made = yield* move(good)
      for (const settle of [reports(made), reports("done"), silent]) {
        assert.strictEqual((yield* remoteOf(ours, settle).settle(good)).transaction, made)
      }
    })
  )

  live(
    "is not believed for another payment of the same payer and amount",
    Effect.gen(function* () {
      const { ours, pay, move } = yield* scene
      const older = yield* move(yield* pay("older"))
      const { settle, counted } = remoteOf(ours, reports(older))
      const outcome = yield* Effect.flip(settle(yield* pay("newer")))
      assert.deepInclude(outcome, { _tag: "SettlementPending", transaction: null })
      assert.strictEqual(counted.unconfirmed, 1)
    })
  )
})
