import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { BusUnavailable } from "#bus"
import { payerKeyOf } from "#payments/contract"
import { type CheckedPayment, ClaimMove, Claims, type ReadFunds } from "#payments"
import { Metrics } from "#runtime"
import { checkedPayment, testCall, testRequirements } from "../../../support/payments.ts"
import { failingAtEach, type Recorder, recorder, type Run, told } from "../../../support/recorder.ts"
import { claimsInMemory } from "./claims-in-memory.ts"
import { optionsFor, why } from "./claims-on-bus.ts"

const [first, second] = [checkedPayment("one"), checkedPayment("two")]
const payerKey = payerKeyOf(first.network, first.payer)

/** A wallet with the money for so many calls. */
const moneyFor =
  (calls: bigint): ReadFunds =>
  () =>
    Effect.succeed({ balance: calls * BigInt(testRequirements.amount), spent: new Set<string>() })

interface Second {
  readonly isFirstSeen: boolean
  readonly money: bigint
  readonly payment?: CheckedPayment
}

/** A payer makes two calls; what is recorded is the second. */
const secondCall = ({ isFirstSeen, money, payment = second }: Second) =>
  Effect.fnUntraced(function* (record: Recorder) {
    let isRecording = false
    const { layer, places, stateOf } = claimsInMemory({
      ...record,
      call: (name, work) => (isRecording ? record.call(name, work) : work)
    })
    return yield* Effect.gen(function* () {
      const claims = yield* Claims
      yield* claims.claim(first, testCall(), {})
      isRecording = true
      const exit = yield* Effect.exit(claims.claim(payment, testCall(), { isFirstSeen, readFunds: moneyFor(money) }))
      return { exit, places: places(), state: stateOf(payment.claimKey) }
    }).pipe(Effect.provide(layer))
  })

/** Whether the last call about a key is the one that failed. */
const isLastFailed = ({ calls, failedAt }: Run<unknown, unknown>, key: string) =>
  calls.findLastIndex((name) => name.endsWith(key)) === failedAt

describe("a claim that is not taken", () => {
  for (const isFirstSeen of [true, false]) {
    const seen = isFirstSeen ? "first seen" : "seen before"
    it.live(`for want of money leaves no place in its payer's record, of a payment that is ${seen}`, () =>
      Effect.gen(function* () {
        const { exit, places, state } = yield* secondCall({ isFirstSeen, money: 1n })(recorder())
        assert.strictEqual(why(exit), "exposure")
        assert.deepStrictEqual(places, [first.claimKey])
        assert.strictEqual(state, isFirstSeen ? "RELEASED" : "absent")
      })
    )

    for (const money of [1n, 2n]) {
      it.live(`leaves nothing but what could not be undone, of a payment that is ${seen} and money for ${money}`, () =>
        Effect.gen(function* () {
          for (const run of yield* failingAtEach(secondCall({ isFirstSeen, money }))) {
            if (Exit.isFailure(run.exit)) return assert.fail(told(run))
            const { exit, places, state } = run.exit.value
            const isTaken = Exit.isSuccess(exit)
            if (money === 1n) assert.isFalse(isTaken, told(run))
            if (isTaken) assert.deepStrictEqual([places.length, state], [2, "CLAIMED"], told(run))
            else if (state === "CLAIMED") assert.isTrue(isLastFailed(run, second.claimKey), told(run))
            if (isTaken || !places.includes(second.claimKey)) continue
            assert.isTrue(isLastFailed(run, payerKey), told(run))
            // A place that was taken by a write whose answer was lost is given back.
            assert.notStrictEqual(run.failedAt, run.calls.indexOf(`update ${payerKey}`), told(run))
          }
        })
      )
    }
  }

  it.live("for another call uses its payment leaves that one's place alone", () =>
    Effect.gen(function* () {
      const { exit, places, state } = yield* secondCall({ isFirstSeen: true, money: 9n, payment: first })(recorder())
      assert.strictEqual(why(exit), "replay")
      assert.deepStrictEqual(places, [first.claimKey])
      assert.strictEqual(state, "CLAIMED")
    })
  )
})

const price = Number(testRequirements.amount)
/** All new payers together may have this one call unpaid. */
const oneForAll = { ...optionsFor(8), credit: { ...optionsFor(8).credit, newPayersMax: price } }

const claimOf = (name: string, payer = "alice", options = {}) =>
  Effect.flatMap(Claims, (claims) => claims.claim(checkedPayment(name, payer), testCall(), options))

describe("a payment for a call", () => {
  it.effect("is counted as claimed, as taken again after its release, or by why it was refused", () =>
    Effect.gen(function* () {
      const claims = yield* Claims
      const claim = yield* claimOf("one")
      yield* claimOf("two")
      yield* Effect.exit(claimOf("one"))
      yield* claims.move(claim, ClaimMove.Release({ reason: "upstream failed" }))
      yield* claimOf("one")
      const text = yield* (yield* Metrics).text
      const counted = (outcome: string) => Number(RegExp(`outcome="${outcome}".* (\\d+)`, "u").exec(text)?.[1])
      assert.deepStrictEqual(
        ["claimed", "retaken", "replay", "unpaid"].map((outcome) => counted(outcome)),
        [2, 1, 1, 0]
      )
    }).pipe(Effect.provide(claimsInMemory().layer))
  )

  it.effect("of a payer that was refused is looked up first; a replay says nothing about its payer", () =>
    Effect.gen(function* () {
      const claims = yield* Claims
      const isFirstSeen = (name: string) => claims.isFirstSeen(checkedPayment(name))
      yield* claimOf("one")
      yield* Effect.exit(claimOf("one"))
      assert.isTrue(yield* isFirstSeen("two"))
      assert.strictEqual(why(yield* Effect.exit(claimOf("three", "alice", { readFunds: moneyFor(1n) }))), "exposure")
      assert.isFalse(yield* isFirstSeen("four"))
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* isFirstSeen("five"))
    }).pipe(Effect.provide(claimsInMemory().layer))
  )

  it.effect("that was refused or given up takes no share of what new payers may have unpaid together", () =>
    Effect.gen(function* () {
      const claims = yield* Claims
      const noChain = () => Effect.fail({ _tag: "ChainUnavailable" } as never)
      const earned = yield* claimOf("one", "alice", { isSettledFirst: true })
      yield* claims.move(yield* claims.move(earned, ClaimMove.Settle()), ClaimMove.Settled({ transaction: "0xaa" }))
      // Its payer settled a moment ago, so that its money is looked at.
      assert.isTrue(Exit.isFailure(yield* Effect.exit(claimOf("two", "alice", { readFunds: noChain }))))
      assert.isTrue(
        Exit.isFailure(yield* Effect.exit(claimOf("three", "alice", { readFunds: noChain, isFirstSeen: true })))
      )
      const bobs = yield* claimOf("four", "bob")
      assert.strictEqual(why(yield* Effect.exit(claimOf("five", "carol"))), "newcomers")
      yield* claims.move(bobs, ClaimMove.Release({ reason: "upstream failed" }))
      yield* claimOf("five", "carol")
    }).pipe(Effect.provide(claimsInMemory(recorder(), oneForAll).layer))
  )

  it.effect("that finds no credit is refused without a write, after two more looks", () => {
    const record = recorder()
    return Effect.gen(function* () {
      yield* claimOf("one")
      const before = record.calls.length
      const refused = yield* Effect.forkChild(Effect.exit(claimOf("two")), { startImmediately: true })
      yield* TestClock.adjust(299)
      assert.isUndefined(refused.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(why(yield* Fiber.join(refused)), "unpaid")
      assert.deepStrictEqual(
        record.calls.slice(before).filter((name) => !name.startsWith("get ")),
        []
      )
    }).pipe(Effect.provide(claimsInMemory(record, optionsFor(1)).layer))
  })

  it.effect("that finds no credit is refused at once while another of its payer waits for it", () =>
    Effect.gen(function* () {
      yield* claimOf("one")
      const waiting = yield* Effect.forkChild(Effect.exit(claimOf("two")), { startImmediately: true })
      assert.strictEqual(why(yield* Effect.exit(claimOf("three"))), "unpaid")
      yield* TestClock.adjust(300)
      assert.strictEqual(why(yield* Fiber.join(waiting)), "unpaid")
    }).pipe(Effect.provide(claimsInMemory(recorder(), optionsFor(1)).layer))
  )

  it.effect("is compared with its payer's money once, before it is taken, where it was seen before", () => {
    let asked = 0
    const readFunds: ReadFunds = (keys) => Effect.tap(moneyFor(2n)(keys), () => Effect.sync(() => (asked += 1)))
    return Effect.gen(function* () {
      yield* claimOf("one")
      yield* claimOf("two", "alice", { readFunds })
      assert.strictEqual(asked, 1)
      yield* claimOf("three", "bob", { readFunds })
      assert.strictEqual(asked, 1, "a payer without other calls has the transfer's own simulation")
    }).pipe(Effect.provide(claimsInMemory().layer))
  })

  it.live("is not taken for money that others have settled since its payer's balance was read", () => {
    const { layer } = claimsInMemory()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const pay = Effect.fnUntraced(function* (name: string) {
        const claim = yield* claims.claim(checkedPayment(name), testCall(), { isSettledFirst: true })
        yield* claims.move(yield* claims.move(claim, ClaimMove.Settle()), ClaimMove.Settled({ transaction: name }))
      })
      yield* pay("one")
      let calls = 1n
      // The wallet's last money is spent by another call between the first look and the write of this one's place.
      const readFunds: ReadFunds = (keys) =>
        Effect.tap(moneyFor(calls)(keys), () => {
          if (calls === 0n) return Effect.void
          calls = 0n
          return Effect.orDie(pay("two"))
        })
      assert.strictEqual(why(yield* Effect.exit(claimOf("three", "alice", { readFunds }))), "unfunded")
    }).pipe(Effect.provide(layer))
  })

  it.effect("fails with the write of its claim, which is looked at once more and not begun again", () => {
    let writes = 0
    const away = new BusUnavailable({ operation: "create", detail: "no answer in time" })
    const call: Recorder["call"] = (name, work) => {
      if (name !== `create ${first.claimKey}`) return work
      writes += 1
      return Effect.fail(away)
    }
    return Effect.gen(function* () {
      const exit = yield* Effect.exit(claimOf("one", "alice", { isFirstSeen: true }))
      assert.deepStrictEqual(Option.getOrThrow(Exit.findErrorOption(exit)), away)
      assert.strictEqual(writes, 2)
    }).pipe(Effect.provide(claimsInMemory({ call }).layer))
  })

  it.effect("that its silent verifier moves meanwhile is neither taken over nor a replay", () => {
    const { layer, kv } = claimsInMemory({
      call: (name, work) => {
        const bucket = kv.entries.get("authorizations")
        const found = bucket?.get(first.claimKey)
        if (name === `update ${first.claimKey}` && found !== undefined)
          bucket?.set(first.claimKey, { ...found, revision: found.revision + 100 })
        return work
      }
    })
    return Effect.gen(function* () {
      const claims = yield* Claims
      const call = testCall()
      yield* claims.claim(first, call)
      const exit = yield* Effect.exit(claims.claim(first, call))
      assert.include(Option.getOrThrow(Exit.findErrorOption(exit)), { _tag: "BusUnavailable" })
      // Another call's is.
      assert.strictEqual(why(yield* Effect.exit(claims.claim(first, testCall()))), "replay")
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "is taken when just enough money shows at the last look, where the chain does not tell what it has made",
    () => {
      let looks = 0
      const readFunds: ReadFunds = () =>
        Effect.sync(() => {
          looks += 1
          return { balance: BigInt(testRequirements.amount) * (looks < 5 ? 1n : 2n), spent: null }
        })
      return Effect.gen(function* () {
        yield* claimOf("one")
        const taking = yield* Effect.forkChild(claimOf("two", "alice", { readFunds }), { startImmediately: true })
        yield* TestClock.adjust(1_000)
        assert.strictEqual((yield* Fiber.join(taking)).record.state, "CLAIMED")
        assert.isAtLeast(looks, 5)
      }).pipe(Effect.provide(claimsInMemory().layer))
    }
  )
})
