import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Latch, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Configuration } from "#configuration"
import { Drain, type DrainReport } from "#runtime"
import { type Claim, type LocalSettlement, LocalSettlers, localSettlers } from "#payments"
import { Networks } from "../../../services/payment-settler/networks.ts"
import { localSettlement } from "../../../services/payment-settler/settlements.ts"
import { Settler } from "../../../services/payment-settler/settler.ts"
import type { Settling } from "../../../services/payment-settler/settling.ts"
import { checkedPayment, testNetwork, testRequirements } from "../../support/payments.ts"
import { record } from "../../libs/payments/claims/moves.ts"

const settled: Settling = { _tag: "Ended", how: "settled", outcome: { _tag: "Settled", transaction: "0xaa" } }
const superseded: Settling = { _tag: "Superseded" }

const claim: Claim = { key: checkedPayment("one").claimKey, revision: 1, record: record("CLAIMED") }
const naming = (facilitator: string): Claim => {
  const requirements = { ...testRequirements, scheme: "upto", extra: { facilitatorAddress: facilitator } } as const
  return { ...claim, record: { ...claim.record, payment: { payload: checkedPayment("one").payload, requirements } } }
}

const latches = (isThere: boolean) => ({ some: Latch.makeUnsafe(isThere), none: Latch.makeUnsafe(!isThere) })

interface Given {
  readonly isRemote?: boolean
  /** Whether there is a key that any payment can be settled with, and one of the account `0xf1`. */
  readonly keys?: readonly [any: boolean, ofAccount: boolean]
}

/** A local settler with room for two payments, whose settling ends when it is let go. */
const world = ({ isRemote = false, keys: [any, ofAccount] = [true, false] }: Given = {}) => {
  const ends = Deferred.makeUnsafe<Settling>()
  const told: Array<unknown> = []
  let drain: Effect.Effect<DrainReport> = Effect.die("nothing is registered")
  const of = latches(ofAccount)
  const pool = { ...latches(any), keyOf: (address: string) => (address === "0xf1" ? of : undefined) }
  const services = Layer.mergeAll(
    Layer.succeed(Networks, new Map([[testNetwork.Network, { entry: testNetwork, isRemote, pool }]]) as never),
    Layer.succeed(Settler, { settle: () => Deferred.await(ends) }),
    Layer.succeed(Drain, {
      register: (_name: string, work: Effect.Effect<DrainReport>) => Effect.sync(() => void (drain = work))
    } as never),
    Configuration.layerOf({ PaymentSettler: { UnackedMax: 2 } })
  )
  const settlement = (of = claim): LocalSettlement => ({
    claim: of,
    answerKept: Effect.void,
    onSettled: () => undefined,
    onEnd: (outcome) => Effect.sync(() => void told.push(outcome))
  })
  return {
    layer: localSettlement.pipe(Layer.provide(services), Layer.provideMerge(Layer.fresh(localSettlers))),
    ends,
    told,
    settlement,
    drained: Effect.suspend(() => drain)
  }
}

const find = (of: Claim) => Effect.map(LocalSettlers, (locals) => locals.find(of))

describe("a settler of the same process", () => {
  it.effect.each([
    ["with a key", {}, claim, true],
    ["without a key", { keys: [false, true] }, claim, false],
    ["with the key of the account that the payer named", { keys: [false, true] }, naming("0xf1"), true],
    ["without the key of that account", { keys: [true, false] }, naming("0xf1"), false],
    ["for an account that is none of its own", { keys: [true, true] }, naming("0xf2"), false],
    ["behind a facilitator", { isRemote: true }, claim, false],
    ["of other networks", {}, { ...claim, record: { ...claim.record, network: "eip155:1" } }, false]
  ] as ReadonlyArray<readonly [string, Given, Claim, boolean]>)("is free %s: %s", ([, given, of, isFree]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* find(of)) !== undefined, isFree)
    }).pipe(Effect.provide(world(given).layer))
  )

  it.effect("takes as many payments as it has room for, and more when they have ended", () => {
    const { layer, settlement, ends, told } = world()
    return Effect.gen(function* () {
      const settler = yield* find(claim)
      if (settler === undefined) return assert.fail("it is not free")
      const begun = [yield* settler.settle(settlement()), yield* settler.settle(settlement())]
      assert.isUndefined(yield* find(claim))
      begun.push(yield* settler.settle(settlement()))
      assert.deepStrictEqual(begun, [true, true, false])
      yield* Deferred.succeed(ends, settled)
      yield* Effect.yieldNow
      assert.deepStrictEqual(told, [settled.outcome, settled.outcome])
      assert.isDefined(yield* find(claim))
    }).pipe(Effect.provide(layer))
  })

  it.effect("tells nobody of a payment that is another's by now", () => {
    const { layer, settlement, ends, told } = world()
    return Effect.gen(function* () {
      yield* (yield* find(claim))?.settle(settlement()) ?? Effect.die("it is not free")
      yield* Deferred.succeed(ends, superseded)
      yield* Effect.yieldNow
      assert.deepStrictEqual(told, [])
      assert.isDefined(yield* find(claim))
    }).pipe(Effect.provide(layer))
  })

  it.effect("leaves only when what it has begun is over, or after twenty seconds, and takes nothing meanwhile", () => {
    const { layer, settlement, drained } = world()
    return Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Scope.provide(Layer.build(layer), scope)
      const locals = Effect.provideContext(find(claim), context)
      const settler = yield* locals
      if (settler === undefined) return assert.fail("it is not free")
      yield* settler.settle(settlement())
      const report = yield* Effect.forkChild(drained, { startImmediately: true })
      const leaving = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      assert.isUndefined(yield* locals)
      assert.isFalse(yield* settler.settle(settlement()))
      yield* TestClock.adjust(19_999)
      assert.isUndefined(leaving.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(report), { finished: 0, handedBack: 1 })
      yield* Fiber.join(leaving)
    })
  })

  it.effect("counts what has ended while it was drained as finished", () => {
    const { layer, settlement, ends, drained } = world()
    return Effect.gen(function* () {
      yield* (yield* find(claim))?.settle(settlement()) ?? Effect.die("it is not free")
      const report = yield* Effect.forkChild(drained, { startImmediately: true })
      yield* Deferred.succeed(ends, settled)
      assert.deepStrictEqual(yield* Fiber.join(report), { finished: 1, handedBack: 0 })
    }).pipe(Effect.provide(layer))
  })
})
