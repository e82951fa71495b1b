import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch, Layer, Option, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Leases, Mailbox, Requests } from "#bus"
import type { Refund, RefundAnswer, RefundedPayment, RefundOrder } from "#payments/contract"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { ChainUnavailable } from "#payments"
import { refundOf, withChanged, withOrdered } from "../../../../services/payment-settler/refunds/refund.ts"
import { refundOrders } from "../../../../services/payment-settler/refunds/refund-orders.ts"
import { Refunds } from "../../../../services/payment-settler/refunds/Refunds.ts"
import { receiptOf } from "../../../support/money.ts"
import { testNetwork } from "../../../support/payments.ts"

const receipt = receiptOf("one")
const order = (key: string): RefundOrder => ({
  sequence: 7,
  claimKey: receipt.claimKey,
  key,
  amount: "1",
  reason: "a test",
  by: "token"
})
const ordering = { from: `0x${"d".repeat(40)}`, nonce: `0x${"2".repeat(64)}` }
const withOrder = (payment: RefundedPayment, key: string, nowMs: number) =>
  Result.getOrThrow(withOrdered(payment, { order: order(key), ...ordering, nowMs }))

const noChain = new ChainUnavailable({ operation: "make a refund", detail: "no block yet" })

/** A settler with one payment's refunds. `carry`: what becomes of one that is carried on. */
const world = (payment: RefundedPayment, carry: (key: string) => Effect.Effect<void, ChainUnavailable>) => {
  const carried: Array<string> = []
  let now = payment
  let handler: (order: RefundOrder) => Effect.Effect<RefundAnswer> = () => Effect.die("nothing is answered")
  const pool = { some: Latch.makeUnsafe(true), none: Latch.makeUnsafe(false) }
  const entry = (value: RefundedPayment) => ({ key: receipt.claimKey, value, revision: 1 })
  const refunds = {
    networks: new Map([[testNetwork.Network, { pool }]]),
    bucket: {
      changes: Stream.concat(
        Stream.succeed({ key: receipt.claimKey, revision: 1, entry: Option.some(entry(payment)) }),
        Stream.never
      )
    },
    order: ({ key }: RefundOrder) =>
      Effect.sync((): RefundAnswer => {
        const refund = refundOf(now, key)
        return refund === undefined ? { _tag: "Refused", why: "there is none" } : { _tag: "Done", refund }
      }),
    carry: ({ key }: { readonly key: string }) =>
      Effect.suspend(() => {
        carried.push(key)
        return carry(key)
      }),
    find: ({ key }: { readonly key: string }) => Effect.sync(() => Option.fromUndefinedOr(refundOf(now, key)))
  }
  const services = Layer.mergeAll(
    Layer.succeed(Refunds, refunds as never),
    Layer.succeed(Requests, {
      answer: (given: { readonly handler: typeof handler }) => Effect.sync(() => void (handler = given.handler))
    } as never),
    Layer.succeed(Leases, { whileHeld: (_lease: unknown, work: Effect.Effect<never>) => work } as never),
    Layer.succeed(Mailbox, { instance: "settler-1" } as never),
    Configuration.layerOf({ PaymentSettler: { SweepSeconds: 2 } })
  )
  return {
    layer: refundOrders.pipe(Layer.provide(services), Layer.provideMerge(Metrics.layerTest)),
    carried,
    pool,
    end: (key: string, change: Partial<Refund>) => void (now = withChanged(now, key, change) ?? now),
    obey: (key: string) => Effect.suspend(() => handler(order(key)))
  }
}

const empty: RefundedPayment = { receipt, refunds: [] }

describe("refunds that have not ended", () => {
  it.effect("are carried on five seconds after their order, and those that have ended never", () => {
    const ended = withChanged(withOrder(empty, "made", 0), "made", { state: "made" }) ?? empty
    const payment = withOrder(withOrder(ended, "old", 0), "young", 4_000)
    const { layer, carried } = world(payment, () => Effect.never)
    return Effect.gen(function* () {
      yield* TestClock.adjust(4_000)
      assert.deepStrictEqual(carried, [])
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(carried, ["old"])
      assert.match(yield* (yield* Metrics).text, /^payment_refunds_open\{.*\} 2$/mu)
    }).pipe(Effect.provide(layer))
  })

  it.effect("are carried on again, later each time, while their end is not known", () => {
    const { layer, carried } = world(withOrder(empty, "one", 0), () => Effect.fail(noChain))
    const at: Array<number> = []
    return Effect.gen(function* () {
      for (let second = 2; second <= 60; second += 2) {
        const before = carried.length
        yield* TestClock.adjust(2_000)
        if (carried.length > before) at.push(second)
      }
      // A delay of half the order's age, at the next sweep.
      assert.deepStrictEqual(at, [6, 10, 16, 24, 36, 54])
    }).pipe(Effect.provide(layer))
  })

  it.effect("of other networks are left to others, and all while there is no key to send with", () => {
    const other = withOrder({ ...empty, receipt: { ...receipt, network: "eip155:1" } }, "other", 0)
    const foreign = world(other, () => Effect.void)
    const keyless = world(withOrder(empty, "one", 0), () => Effect.void)
    return Effect.gen(function* () {
      yield* Effect.all([keyless.pool.some.close, keyless.pool.none.open])
      yield* TestClock.adjust("1 minute").pipe(Effect.provide(foreign.layer))
      yield* TestClock.adjust("1 minute").pipe(Effect.provide(keyless.layer))
      assert.deepStrictEqual([foreign.carried, keyless.carried], [[], []])
    })
  })
})

describe("an order of an operator", () => {
  it.effect("is carried out at once, and answered with how it stands then", () => {
    const there = world(withOrder(empty, "one", 0), (key) => Effect.sync(() => there.end(key, { state: "made" })))
    return Effect.gen(function* () {
      const answer = yield* there.obey("one")
      assert.deepStrictEqual(there.carried, ["one"])
      assert.strictEqual(answer._tag === "Done" ? answer.refund.state : answer._tag, "made")
      // It has ended.
      yield* there.obey("one")
      assert.deepStrictEqual(there.carried, ["one"])
      assert.deepInclude(yield* there.obey("two"), { _tag: "Refused" })
    }).pipe(Effect.provide(there.layer))
  })

  it.effect("is answered after fifteen seconds, and continues", () => {
    const { layer, obey, carried } = world(withOrder(empty, "one", 0), () => Effect.never)
    return Effect.gen(function* () {
      const answering = yield* Effect.forkChild(obey("one"), { startImmediately: true })
      yield* TestClock.adjust(14_999)
      assert.isUndefined(answering.pollUnsafe())
      yield* TestClock.adjust(1)
      const exit = answering.pollUnsafe()
      assert.strictEqual(exit?._tag, "Success")
      assert.include(carried, "one")
    }).pipe(Effect.provide(layer))
  })
})
