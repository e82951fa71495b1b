import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { EvmPayment } from "../../../../../libs/payments/chains/evm/payment.ts"
import { FeeSource } from "../../../../../libs/payments/chains/evm/transaction.ts"
import { SettlerAccount } from "../../../../../libs/payments/chains/evm/SettlerAccount.ts"
import { goodPayment, type EvmFixture, startEvmFixture } from "../../../../../dev/fixtures/evm/fixture.ts"

describe("a settler's account", () => {
  let fixture: EvmFixture
  beforeAll(async () => {
    fixture = await startEvmFixture({ settlerCount: 4 })
  })
  afterAll(() => fixture.end())

  const signedPayment = async () => ({ good: await goodPayment(fixture) })
  const settleWith = async (account: ReturnType<EvmFixture["scheme"]["account"]>, payload: EvmPayment) =>
    fixture.run(
      Effect.gen(function* () {
        const lease = yield* account.take
        const prepared = yield* fixture.scheme.prepare(payload, lease)
        const settled = yield* fixture.scheme.broadcast(prepared, payload)
        yield* account.end(lease, "used")
        return settled
      })
    )

  it("settles twenty payments at once with one key, without a collision", async () => {
    const account = fixture.scheme.account((await fixture.lease(1)).key)
    const payments = await Promise.all(Array.from({ length: 20 }, () => signedPayment()))

    const settled = await Promise.all(payments.map(({ good }) => settleWith(account, good)))

    assert.strictEqual(new Set(settled.map(({ transaction }) => transaction)).size, 20)
  })

  it("fills the gap that a lost transaction leaves, so that those behind it are settled", async () => {
    const account = fixture.scheme.account((await fixture.lease(3)).key)
    const { good } = await signedPayment()
    const lost = await fixture.run(account.take)
    await fixture.run(account.end(lost, "unknown"))
    const held = await fixture.run(account.take)
    await fixture.run(account.end(held, "unsent"))
    const [gone, behind] = await fixture.run(Effect.all([account.take, account.take]))
    assert.isDefined(gone)
    await fixture.run(account.end(gone, "used"))
    const prepared = await fixture.run(fixture.scheme.prepare(good, behind))
    const settling = fixture.run(fixture.scheme.broadcast(prepared, good))

    const filled = await fixture.run(account.heal)

    assert.strictEqual(filled, 1)
    assert.strictEqual((await settling).transaction, prepared.transaction)
  })

  it("hands out a nonce again that came back while a gap was being filled", async () => {
    const { key } = await fixture.lease(2)
    const { node } = fixture.scheme
    const onFill = { effect: Effect.void as Effect.Effect<void> }
    const watched = Object.assign(Object.create(node) as typeof node, {
      send: (raw: `0x${string}`) => Effect.andThen(onFill.effect, node.send(raw))
    })
    const chainId = await fixture.run(node.chainId)
    const account = new SettlerAccount({ node: watched, fees: new FeeSource(node, 50_000_000_000n), chainId }, key)
    const [lost, returned, behind] = await fixture.run(Effect.all([account.take, account.take, account.take]))
    assert.isDefined(lost)
    await fixture.run(account.end(lost!, "unknown"))
    onFill.effect = account.end(returned!, "unsent")

    const filled = await fixture.run(account.heal)
    const next = await fixture.run(account.take)

    assert.strictEqual(filled, 1)
    assert.strictEqual(next.nonce, returned!.nonce)
    await fixture.run(account.end(next, "unsent"))
    await fixture.run(account.end(behind!, "unsent"))
  })
})
