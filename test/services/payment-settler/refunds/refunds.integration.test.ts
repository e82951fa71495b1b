/** Payments that an operator gives back through the console: by each way to pay, and to the last unit on all books. */
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { UptoEvmScheme } from "@x402/evm/upto/client"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createPublicClient, http } from "viem"
import { baseSepolia } from "viem/chains"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { newPayer } from "../../../../dev/fixtures/evm/payments.ts"
import { chat } from "../../../support/gateway.ts"
import { codeOf, type Json } from "../../../support/console.ts"
import { type RefundFleet, withRefunds } from "../../../support/refund-fleet.ts"

type Payer = ReturnType<typeof newPayer>

const schemes = {
  exact: (payer: Payer) => new ExactEvmScheme(payer),
  upto: (payer: Payer, rpcUrl: string) => new UptoEvmScheme(payer, { rpcUrl }),
  "batch-settlement": (payer: Payer, rpcUrl: string) => {
    const { readContract } = createPublicClient({ chain: baseSepolia, transport: http(rpcUrl, { retryCount: 0 }) })
    const signer = { address: payer.address, signTypedData: payer.signTypedData, readContract }
    return new BatchSettlementEvmScheme(signer as never, { depositPolicy: { depositMultiplier: 10 } })
  }
} as const
type SchemeName = keyof typeof schemes

/** One call, paid; the place of its receipt, and what was charged. */
const paidCall = Effect.fnUntraced(function* (fleet: RefundFleet, payer: Payer, scheme: SchemeName = "exact") {
  const client = new x402Client().register("eip155:*", schemes[scheme](payer, fleet.chain.rpcUrl) as never)
  const response = yield* Effect.promise(() =>
    wrapFetchWithPayment(fetch, client)(`${fleet.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(chat("sing along"))
    })
  )
  assert.strictEqual(response.status, 200)
  yield* eventually(fleet.newestOf(payer.address), { is: (sequence) => sequence > 0 })
  const sequence = yield* fleet.newestOf(payer.address)
  const { body } = yield* fleet.call(`GET /receipts/${sequence}`)
  return { sequence, charged: BigInt(String(body["amount"])) }
})

const funded = Effect.fnUntraced(function* ({ chain, refunder }: RefundFleet, units = 10_000_000n) {
  const payer = newPayer()
  yield* chain.fund(payer.address, 10_000_000n)
  yield* chain.fund(refunder.address, units)
  return payer
})

const counted = ({ metrics }: RefundFleet, name: string) =>
  Effect.map(metrics, (text) => Number(new RegExp(`^${name}.* (\\S+)$`, "mu").exec(text)?.[1] ?? "0"))

describe("a payment that an operator gives back", () => {
  it.live.each(Object.keys(schemes) as ReadonlyArray<SchemeName>)(
    "by %s goes to its payer's account, in parts, once each, and stands on the books and in the audit log",
    (scheme) =>
      withRefunds(
        (fleet) =>
          Effect.gen(function* () {
            const payer = yield* funded(fleet)
            const { sequence, charged } = yield* paidCall(fleet, payer, scheme)
            const before = yield* fleet.balanceOf(payer.address)
            const order = { key: "ticket-1", amount: "300", reason: "the answer was empty" }
            const first = yield* fleet.call(`POST /receipts/${sequence}/refunds`, { body: order })
            assert.strictEqual(first.status, 200, JSON.stringify(first.body))
            assert.deepInclude(first.body, { key: "ticket-1", amount: "300", state: "made", fault: null })
            assert.strictEqual(String(first.body["payer"]).toLowerCase(), payer.address.toLowerCase())
            assert.match(String(first.body["transaction"]), /^0x[0-9a-f]{64}$/u)
            const again = yield* fleet.call(`POST /receipts/${sequence}/refunds`, { body: order })
            assert.deepStrictEqual(again.body, first.body)
            assert.strictEqual(yield* fleet.balanceOf(payer.address), before + 300n)

            const rest = { key: "ticket-2", reason: "all of it" }
            const second = yield* fleet.call(`POST /receipts/${sequence}/refunds`, { body: rest })
            assert.deepInclude(second.body, { amount: String(charged - 300n), state: "made" })
            assert.strictEqual(yield* fleet.balanceOf(payer.address), before + charged)
            assert.strictEqual(yield* fleet.balanceOf(fleet.refunder.address), 10_000_000n - charged)

            const booked = yield* fleet.refunded
            assert.deepStrictEqual(
              booked.map((each) => [each.amount, each.refund, each.scheme, each.model, each.reason]),
              [
                ["300", "ticket-1", scheme, "demo/echo", "the answer was empty"],
                [String(charged - 300n), "ticket-2", scheme, "demo/echo", "all of it"]
              ]
            )
            const { body: whole } = yield* fleet.call(`GET /receipts/${sequence}`)
            assert.deepStrictEqual(whole["refunds"], [first.body, second.body])
            const { body: sums } = yield* fleet.call("GET /receipts/sums?by=model")
            const [sum] = sums["items"] as ReadonlyArray<Json>
            assert.deepInclude(sum, {
              settled: String(charged),
              settledCount: 1,
              refunded: String(charged),
              refundedCount: 2,
              providerCostCount: 1,
              margin: `-${String(sum?.["providerCost"])}`
            })
            const { body: table } = yield* fleet.call("GET /receipts.csv?outcome=refunded")
            const lines = String(table["text"]).trimEnd().split("\r\n")
            assert.deepStrictEqual(
              lines.slice(1).map((line) => line.split(",").at(-1)),
              ["ticket-1", "ticket-2"]
            )
            const { body: acts } = yield* fleet.call("GET /audit?action=payment-refund")
            assert.deepStrictEqual(
              (acts["items"] as ReadonlyArray<Json>).map(({ target, reason }) => [target, reason]),
              [
                [`${sequence} ticket-2: all`, "all of it"],
                [`${sequence} ticket-1: 300`, "the answer was empty"],
                [`${sequence} ticket-1: 300`, "the answer was empty"]
              ]
            )
            assert.strictEqual(yield* counted(fleet, 'payment_refunds_total\\{.*outcome="made"'), 2)
            assert.closeTo(yield* counted(fleet, "payment_refunded_usd_total"), Number(charged) / 1e6, 1e-9)
          }),
        { settler: { BooksGraceSeconds: 0 } }
      )
  )

  it.live("is never more than it was, whoever asks at once", () =>
    withRefunds((fleet) =>
      Effect.gen(function* () {
        const payer = yield* funded(fleet)
        const { sequence, charged } = yield* paidCall(fleet, payer)
        const before = yield* fleet.balanceOf(payer.address)
        const half = String(charged / 2n)
        const orders = Array.from({ length: 5 }, (_, at) =>
          fleet.call(`POST /receipts/${sequence}/refunds`, {
            body: { key: `one-${at}`, amount: half, reason: "a test" }
          })
        )
        const answers = yield* Effect.all(orders, { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 409, 409, 409])
        assert.strictEqual(yield* fleet.balanceOf(payer.address), before + 2n * (charged / 2n))
        assert.lengthOf(yield* fleet.refunded, 2)
      })
    )
  )

  it.live("is refused for what it cannot be, with the reason, and nothing moves", () =>
    withRefunds((fleet) =>
      Effect.gen(function* () {
        const payer = yield* funded(fleet)
        const { sequence, charged } = yield* paidCall(fleet, payer)
        const refund = (body: Json, place = sequence) => fleet.call(`POST /receipts/${place}/refunds`, { body })
        const reason = "a test"
        const more = yield* refund({ key: "a", amount: String(charged + 1n), reason })
        assert.deepStrictEqual([more.status, codeOf(more.body)], [409, "conflict"])
        assert.include(JSON.stringify(more.body), `from 1 to ${charged} units`)
        assert.strictEqual((yield* refund({ key: "a", amount: "0", reason })).status, 409)
        assert.strictEqual((yield* refund({ key: "a", amount: "0.5", reason })).status, 400)
        assert.strictEqual((yield* refund({ key: "a b", reason })).status, 400)
        assert.strictEqual((yield* refund({ key: "a", reason: " " })).status, 400)
        assert.strictEqual((yield* refund({ key: "a", reason }, 999_999)).status, 404)
        assert.strictEqual((yield* refund({ key: "a", amount: "5", reason })).status, 200)
        const other = yield* refund({ key: "a", amount: "6", reason })
        assert.include(JSON.stringify(other.body), "a is a refund of 5 already")
        const back = yield* fleet.refunded
        assert.lengthOf(back, 1)
      })
    )
  )

  it.live("has failed where the account is empty, and can be ordered again once it is filled", () =>
    withRefunds((fleet) =>
      Effect.gen(function* () {
        const payer = yield* funded(fleet, 10n)
        const { sequence, charged } = yield* paidCall(fleet, payer)
        const before = yield* fleet.balanceOf(payer.address)
        const refund = (key: string) =>
          fleet.call(`POST /receipts/${sequence}/refunds`, { body: { key, reason: "a test" } })
        const failed = yield* refund("a")
        assert.deepInclude(failed.body, { state: "failed", transaction: null })
        assert.include(String(failed.body["fault"]), "insufficient_balance")
        assert.strictEqual(yield* fleet.balanceOf(payer.address), before)
        yield* fleet.chain.fund(fleet.refunder.address, charged)
        assert.deepInclude((yield* refund("a")).body, { state: "failed" })
        assert.deepInclude((yield* refund("b")).body, { state: "made", amount: String(charged) })
        assert.strictEqual(yield* fleet.balanceOf(payer.address), before + charged)
        assert.strictEqual(yield* counted(fleet, 'payment_refunds_total\\{.*outcome="failed"'), 1)
      })
    )
  )
})
