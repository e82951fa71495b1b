import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type Receipt, RefundedPayment, type RefundOrder } from "#payments/contract"
import {
  isOpen,
  leftOf,
  refundOf,
  refundReceipt,
  withChanged,
  withOrdered
} from "../../../../services/payment-settler/refunds/refund.ts"
import { unitsOf } from "../../../../services/cli/operate/amounts.ts"

const address = (digit: string) => `0x${digit.repeat(40)}`
const receipt: Receipt = {
  claimKey: "claim.eip155=3A84532.a.b.c",
  network: "eip155:84532",
  asset: address("a"),
  payer: address("b"),
  payTo: address("c"),
  amount: "1000",
  scheme: "upto",
  ceiling: "5000",
  outcome: "settled",
  transaction: `0x${"1".repeat(64)}`,
  reason: null,
  model: "demo/echo",
  providerCost: "400",
  requestedAtMs: 1_000,
  settledAtMs: 2_000
}
const payment: RefundedPayment = { receipt, refunds: [] }
const from = address("d")
const nonce = `0x${"2".repeat(64)}`

const order = (key: string, amount: string | null): RefundOrder => ({
  sequence: 7,
  claimKey: receipt.claimKey,
  key,
  amount,
  reason: "a test",
  by: "token"
})
const ordered = (before: RefundedPayment, key: string, amount: string | null) =>
  withOrdered(before, { order: order(key, amount), from, nonce, nowMs: 10_500 })
const isPayment = Schema.is(RefundedPayment)

describe("a refund that is ordered", () => {
  it("is written down with all that its transfer needs, for an hour", () => {
    const after = Result.getOrThrow(ordered(payment, "one", "300"))
    assert.isTrue(isPayment(after))
    assert.deepInclude(
      { ...refundOf(after, "one") },
      { amount: "300", from, nonce, validBefore: 3_610, state: "ordered", transaction: null, endedAtMs: null }
    )
    assert.isTrue(isOpen(after))
    assert.strictEqual(leftOf(after), 700n)
  })

  it("is all that is left where no amount is named", () => {
    const first = Result.getOrThrow(ordered(payment, "one", "300"))
    assert.strictEqual(refundOf(Result.getOrThrow(ordered(first, "two", null)), "two")?.amount, "700")
  })

  it("is the same one by the same key, and no other amount's", () => {
    const first = Result.getOrThrow(ordered(payment, "one", "300"))
    assert.strictEqual(Result.getOrThrow(ordered(first, "one", "300")), first)
    assert.strictEqual(Result.getOrThrow(ordered(first, "one", null)), first)
    assert.strictEqual(Result.getFailure(ordered(first, "one", "301"))._tag, "Some")
  })

  const whole = Result.getOrThrow(ordered(payment, "one", null))
  const many = Array.from({ length: 16 }).reduce<RefundedPayment>(
    (before, _, at) => Result.getOrThrow(ordered(before, `number-${at}`, "1")),
    payment
  )
  const refused: ReadonlyArray<readonly [string, RefundedPayment, string | null, string]> = [
    ["more than was charged", payment, "1001", "from 1 to 1000 units"],
    ["nothing", payment, "0", "from 1 to 1000 units"],
    ["of what went back wholly", whole, null, "all that was charged goes back already"],
    [
      "of what was never collected",
      { ...payment, receipt: { ...receipt, outcome: "uncollected" } },
      "1",
      "nothing was"
    ],
    ["of a refund", { ...payment, receipt: { ...receipt, outcome: "refunded" } }, "1", "nothing was paid by it"],
    ["to the account that pays it", { ...payment, receipt: { ...receipt, payer: from } }, "1", "its payer pays"],
    ["a seventeenth", many, "1", "it has 16 refunds already"]
  ]
  it.each(refused)("is refused: %s", (_, before, amount, why) => {
    const result = ordered(before, "another", amount)
    assert.isTrue(Result.isFailure(result))
    if (Result.isFailure(result)) assert.include(result.failure, why)
  })

  it("can be ordered again, by another key, once it has failed", () => {
    const failed = withChanged(whole, "one", { state: "failed", endedAtMs: 11_000, fault: "empty" })
    if (failed === undefined) return assert.fail("it did not fail")
    assert.strictEqual(leftOf(failed), 1_000n)
    assert.isFalse(isOpen(failed))
    assert.strictEqual(refundOf(Result.getOrThrow(ordered(failed, "two", null)), "two")?.amount, "1000")
  })

  it("stays as it ended", () => {
    const made = withChanged(whole, "one", { state: "made", endedAtMs: 11_000 })
    assert.isDefined(made)
    assert.isUndefined(made && withChanged(made, "one", { state: "failed" }))
    assert.isUndefined(withChanged(whole, "two", { state: "made" }))
  })

  it.prop("never gives back more than was charged, whatever is ordered and however it ends", [Schema.Int], ([seed]) => {
    let state = seed >>> 0
    const below = (bound: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * bound)
    }
    let now = payment
    for (let step = 0; step < 60; step += 1) {
      const key = `number-${below(12)}`
      const amount = below(4) === 0 ? null : String(below(600))
      const ends = [{ state: "made" }, { state: "failed" }, { transaction: "0x1" }] as const
      const changed = withChanged(now, key, ends[below(3)] ?? ends[0])
      now = below(2) === 0 ? Result.getOrElse(ordered(now, key, amount), () => now) : (changed ?? now)
      const back = now.refunds.filter((each) => each.state !== "failed").map((each) => BigInt(each.amount))
      const isTooMuch = back.reduce((sum, each) => sum + each, 0n) > 1_000n || leftOf(now) < 0n
      const isTwice = new Set(now.refunds.map((each) => each.key)).size !== now.refunds.length
      if (isTooMuch || isTwice) assert.fail(JSON.stringify(now))
    }
  })
})

describe("a refund on the books", () => {
  it("has its payment's claim and model, and the operator's reason and key", () => {
    const after = Result.getOrThrow(ordered(payment, "one", "300"))
    const refund = refundOf(after, "one")
    if (refund === undefined) return assert.fail("it is gone")
    const { ceiling: _ceiling, ...paid } = receipt
    assert.deepStrictEqual(refundReceipt(after, refund, { transaction: "0x2", atMs: 12_000 }), {
      ...paid,
      amount: "300",
      outcome: "refunded",
      transaction: "0x2",
      reason: "a test",
      refund: "one",
      providerCost: "0",
      requestedAtMs: 10_500,
      settledAtMs: 12_000
    })
  })
})

describe("an amount in whole tokens", () => {
  it.each([
    ["0.01", 6, "10000"],
    ["1", 6, "1000000"],
    ["0.000001", 6, "1"],
    ["0.0000001", 6, null],
    ["1.5", 0, null],
    ["2", 0, "2"],
    ["-1", 6, null],
    ["1e3", 6, null],
    [".5", 6, null],
    ["", 6, null],
    ["1", null, null]
  ] as const)("%s of %s decimals is %s units", (amount, decimals, units) => {
    assert.strictEqual(unitsOf(amount, decimals), units)
  })
})
