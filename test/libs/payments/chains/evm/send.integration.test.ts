import { Effect, Fiber } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { hexOf } from "../../../../../libs/payments/chains/evm/encoding.ts"
import { later } from "../../../../support/clock.ts"
import { goodPayment, type EvmFixture, startEvmFixture } from "../../../../../dev/fixtures/evm/fixture.ts"
import { answered, rejected, startFaultyNode } from "./faulty-node.ts"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"

describe("settling on a chain that makes a block only on request", () => {
  let fixture: EvmFixture
  beforeAll(async () => {
    fixture = await startEvmFixture({ onlyInterval: true, blockTimeMs: 3_600_000 }, { receiptDeadlineMs: 300 })
  })
  afterAll(() => fixture.end())

  const signedPayment = () => goodPayment(fixture)
  const mine = () => fixture.run(fixture.chain.rpc("evm_mine", []))
  const prepare = async (good: Awaited<ReturnType<typeof signedPayment>>) =>
    fixture.run(fixture.scheme.prepare(good, await fixture.lease()))

  it("is pending, with the transaction's hash, when no block comes in time", async () => {
    const good = await signedPayment()
    const prepared = await prepare(good)

    const outcome = await fixture.run(Effect.flip(fixture.scheme.broadcast(prepared, good)))
    const waiting = await fixture.run(fixture.scheme.look(good, prepared.transaction))
    await mine()
    const after = await fixture.run(fixture.scheme.look(good, prepared.transaction))

    assert.deepInclude(outcome, { _tag: "SettlementPending", transaction: prepared.transaction })
    assert.strictEqual(waiting._tag, "Undecided")
    assert.deepStrictEqual(after, { _tag: "Settled", transaction: prepared.transaction })
  })

  it("waits for a transaction that the node already has", async () => {
    const good = await signedPayment()
    const prepared = await prepare(good)
    const patient = await fixture.schemeWith({ receiptDeadlineMs: 10_000 })
    await fixture.run(fixture.scheme.node.send(hexOf(prepared.raw)))

    const settled = await fixture.run(
      Effect.gen(function* () {
        const broadcasting = yield* Effect.forkChild(patient.broadcast(prepared, good))
        yield* eventually(fixture.chain.rpc("evm_mine", []), { is: () => broadcasting.pollUnsafe() !== undefined })
        return yield* Fiber.join(broadcasting)
      })
    )

    assert.strictEqual(settled.transaction, prepared.transaction)
  })

  it("is still possible after its transaction was dropped, with a new one", async () => {
    const good = await signedPayment()
    const prepared = await prepare(good)
    await fixture.run(fixture.scheme.node.send(hexOf(prepared.raw)))
    await fixture.run(fixture.chain.rpc("anvil_dropTransaction", [prepared.transaction]))

    const dropped = await fixture.run(fixture.scheme.look(good, prepared.transaction))
    const again = await prepare(good)
    await fixture.run(fixture.scheme.node.send(hexOf(again.raw)))
    await mine()

    assert.deepStrictEqual(dropped, { _tag: "Unused" })
    assert.strictEqual(again.nonce, prepared.nonce)
    assert.strictEqual((await fixture.run(fixture.scheme.look(good, again.transaction)))._tag, "Settled")
  })

  it("is pending when another transaction has taken the nonce, before a block and after", async () => {
    const [first, second] = [await signedPayment(), await signedPayment()]
    const lease = await fixture.lease()
    const prepared = await fixture.run(fixture.scheme.prepare(first, lease))
    const rival = await fixture.run(fixture.scheme.prepare(second, lease))
    await fixture.run(fixture.scheme.node.send(hexOf(prepared.raw)))

    const behind = await fixture.run(Effect.flip(fixture.scheme.broadcast(rival, second)))
    await mine()
    const after = await fixture.run(Effect.flip(fixture.scheme.broadcast(rival, second)))

    assert.strictEqual(behind._tag, "SettlementPending")
    assert.strictEqual(after._tag, "SettlementPending")
    assert.deepStrictEqual(await fixture.run(fixture.scheme.look(second, rival.transaction)), { _tag: "Unused" })
  })

  it("is still possible when a node lists a transaction whose nonce another one has taken", async () => {
    const [first, second] = [await signedPayment(), await signedPayment()]
    const lease = await fixture.lease()
    const rival = await fixture.run(fixture.scheme.prepare(second, lease))
    const node = await startFaultyNode(fixture.chain.rpcUrl)
    const scheme = await fixture.schemeWith({ rpcUrls: [node.url] })
    const listed = {
      hash: rival.transaction,
      from: lease.key.address,
      nonce: `0x${rival.nonce.toString(16)}`,
      blockNumber: null
    }
    node.behave = (method) => (method === "eth_getTransactionByHash" ? answered(listed) : undefined)

    const before = await fixture.run(scheme.look(second, rival.transaction))
    const prepared = await fixture.run(fixture.scheme.prepare(first, lease))
    await fixture.run(fixture.scheme.node.send(hexOf(prepared.raw)))
    await mine()
    const after = await fixture.run(scheme.look(second, rival.transaction))
    await node.end()

    assert.strictEqual(before._tag, "Undecided")
    assert.deepStrictEqual(after, { _tag: "Unused" })
  })

  it("sends a dropped transaction again, and settles with it", async () => {
    const good = await signedPayment()
    const prepared = await prepare(good)
    const patient = await fixture.schemeWith({ receiptDeadlineMs: 30_000, resendMs: 200 })

    const settled = await fixture.run(
      Effect.gen(function* () {
        const broadcasting = yield* Effect.forkChild(patient.broadcast(prepared, good))
        yield* eventually(fixture.scheme.node.isWaiting(prepared.transaction))
        yield* fixture.chain.rpc("anvil_dropTransaction", [prepared.transaction])
        yield* eventually(fixture.chain.rpc("evm_mine", []), { is: () => broadcasting.pollUnsafe() !== undefined })
        return yield* Fiber.join(broadcasting)
      })
    )

    assert.strictEqual(settled.transaction, prepared.transaction)
  })

  it("is pending long before its deadline once another transaction has its nonce permanently", async () => {
    const [first, second] = [await signedPayment(), await signedPayment()]
    const lease = await fixture.lease()
    const prepared = await fixture.run(fixture.scheme.prepare(first, lease))
    const rival = await fixture.run(fixture.scheme.prepare(second, lease))
    const node = await startFaultyNode(fixture.chain.rpcUrl)
    node.behave = (method) => (method === "eth_sendRawTransactionSync" ? rejected(-32_000, "timeout") : undefined)
    const patient = await fixture.schemeWith({ rpcUrls: [node.url], receiptDeadlineMs: 3_600_000, resendMs: 200 })
    await fixture.run(fixture.scheme.node.send(hexOf(rival.raw)))
    await mine()

    const outcome = await fixture.run(Effect.flip(patient.broadcast(prepared, first)))
    await node.end()

    assert.strictEqual(outcome._tag, "SettlementPending")
    assert.include(String(outcome.message), "must be signed anew")
    assert.deepStrictEqual(await fixture.run(fixture.scheme.look(first, prepared.transaction)), { _tag: "Unused" })
  })

  it("finds a connection for the transaction that others of the same account wait for", async () => {
    const account = fixture.scheme.account((await fixture.lease()).key)
    const narrow = await fixture.schemeWith({ receiptDeadlineMs: 15_000, connectionsMax: 2 })
    const payments = [await signedPayment(), await signedPayment(), await signedPayment()]
    const leases = await fixture.run(Effect.all(payments.map(() => account.take)))
    const works = await Promise.all(
      payments.map(async (good, index) => ({
        good,
        prepared: await fixture.run(fixture.scheme.prepare(good, leases[index]!))
      }))
    )

    const settled = await fixture.run(
      Effect.gen(function* () {
        const settling: Array<Fiber.Fiber<unknown, unknown>> = []
        for (const { good, prepared } of works.toReversed()) {
          settling.push(yield* Effect.forkChild(narrow.broadcast(prepared, good)))
          const isWithNode = fixture.scheme.node.isWaiting(prepared.transaction)
          yield* Effect.repeat(Effect.delay(isWithNode, "10 millis"), { until: (is) => is, times: 500 })
        }
        yield* eventually(fixture.chain.rpc("evm_mine", []), {
          is: () => settling.every((one) => one.pollUnsafe() !== undefined)
        })
        return yield* Effect.forEach(settling, (one) => Fiber.join(one))
      })
    )

    assert.lengthOf(settled, 3)
  })

  it("fills the nonce of a dropped transaction, so that those behind it are settled", async () => {
    const account = fixture.scheme.account((await fixture.lease()).key)
    const payments = [await signedPayment(), await signedPayment()] as const
    const patient = await fixture.schemeWith({ receiptDeadlineMs: 10_000 })
    const [first, second] = await fixture.run(Effect.all([account.take, account.take]))
    const dropped = await fixture.run(fixture.scheme.prepare(payments[0], first))
    const behind = await fixture.run(fixture.scheme.prepare(payments[1], second))
    await fixture.run(fixture.scheme.node.send(hexOf(dropped.raw)))
    await fixture.run(fixture.chain.rpc("anvil_dropTransaction", [dropped.transaction]))

    const [isStuckSoon, soon] = await fixture.run(Effect.all([account.mayBeStuck, account.heal]))
    const isStuckLater = await fixture.run(later(5_000)(account.mayBeStuck))
    const settled = await fixture.run(
      Effect.gen(function* () {
        const settling = yield* Effect.forkChild(patient.broadcast(behind, payments[1]))
        const filled = yield* later(5_000)(account.heal)
        yield* eventually(fixture.chain.rpc("evm_mine", []), { is: () => settling.pollUnsafe() !== undefined })
        return { filled, settled: yield* Fiber.join(settling) }
      })
    )

    assert.deepStrictEqual([isStuckSoon, soon, isStuckLater], [false, 0, true])
    assert.strictEqual(settled.filled, 1)
    assert.strictEqual(settled.settled.transaction, behind.transaction)
    assert.deepStrictEqual(await fixture.run(fixture.scheme.look(payments[0], dropped.transaction)), { _tag: "Unused" })
  })
})
