import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { payerKeyOf } from "#payments/contract"
import { type Claim, ClaimMove, Claims } from "#payments"
import { Metrics } from "#runtime"
import { firstSeen, recentKeys } from "../../../../libs/payments/claims/Claims.ts"
import { checkedPayment, testCall, testRequirements } from "../../../support/payments.ts"
import { failingAtEach, isAfter, recorder, told } from "../../../support/recorder.ts"
import { claimsInMemory } from "./claims-in-memory.ts"
import { optionsFor } from "./claims-on-bus.ts"

describe("recently seen keys", () => {
  it("are known until their time is over", () => {
    const keys = recentKeys({ keysMax: 2, keptMs: 100 })
    keys.add("a", 0)
    assert.deepStrictEqual([keys.has("a", 99), keys.has("a", 100), keys.has("b", 0)], [true, false, false])
  })

  it("are forgotten oldest first above the memory's bound, counted from their latest appearance", () => {
    const keys = recentKeys({ keysMax: 2, keptMs: 100 })
    keys.add("a", 0)
    keys.add("b", 1)
    keys.add("a", 2)
    keys.add("c", 3)
    assert.deepStrictEqual([keys.has("a", 4), keys.has("b", 4), keys.has("c", 4)], [true, false, true])
  })
})

describe("a new payment", () => {
  it("is first seen once", () => {
    const { isFirst } = firstSeen()
    assert.deepStrictEqual([isFirst(checkedPayment("one"), 0), isFirst(checkedPayment("one"), 0)], [true, false])
    assert.isTrue(isFirst(checkedPayment("two"), 0))
  })

  it("of a refused payer is checked first for a while, others' are not", () => {
    const { isFirst, refused } = firstSeen()
    refused(checkedPayment("one"), 0)
    assert.deepStrictEqual(
      [isFirst(checkedPayment("two"), 59_999), isFirst(checkedPayment("three"), 60_000)],
      [false, true]
    )
    assert.isTrue(isFirst(checkedPayment("four", "bob"), 0))
  })
})

const price = Number(testRequirements.amount)

/** A call's claim, up to the request for its settlement. */
const settling = Effect.gen(function* () {
  const claims = yield* Claims
  return yield* claims.move(yield* claims.claim(checkedPayment("one"), testCall()), ClaimMove.Settle())
})

const orphanOf = (claim: Claim) => ({ claimKey: claim.key, ticket: claim.record.ticket })

const lostUsd = Effect.map(
  Effect.flatMap(Metrics, ({ text }) => text),
  (text) => Number(/^x402_unpaid_lost_usd_total.* (\S+)$/mu.exec(text)?.[1])
)

describe("a payer of a claim that ended unpaid", () => {
  it.effect("is denied, owes its price, and is served again once the payment turns out to be made", () => {
    const { layer, payerOf, stateOf } = claimsInMemory()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const claim = yield* settling
      yield* claims.move(claim, ClaimMove.Uncollected({ reason: "expired" }))
      assert.deepInclude(payerOf(), {
        places: [],
        denied: { claimKey: claim.key, reason: "expired", sinceMs: 0 },
        credit: { earned: 0, owed: { microUsd: price, atMs: 0 } }
      })
      assert.strictEqual(stateOf(claim.key), "UNCOLLECTED")
      assert.strictEqual(yield* lostUsd, price / 1e6)
      yield* claims.pardon(claim.record, "another claim")
      assert.isNotNull(payerOf()?.denied)
      yield* claims.pardon(claim.record, claim.key)
      assert.deepInclude(payerOf(), { denied: null, credit: { earned: 0, owed: { microUsd: 0, atMs: 0 } } })
    }).pipe(Effect.provide(layer))
  })

  it.effect("is denied before its claim ends, whichever call to the broker fails", () =>
    Effect.gen(function* () {
      const { claimKey, network, payer } = checkedPayment("one")
      const runs = yield* failingAtEach((record) => {
        let isRecording = false
        const { layer } = claimsInMemory({ call: (name, work) => (isRecording ? record.call(name, work) : work) })
        return Effect.gen(function* () {
          const claim = yield* settling
          isRecording = true
          yield* Effect.exit((yield* Claims).move(claim, ClaimMove.Uncollected({ reason: "expired" })))
        }).pipe(Effect.provide(layer))
      })
      for (const run of runs)
        assert.isTrue(isAfter(run, `update ${claimKey}`, `update ${payerKeyOf(network, payer)}`), told(run))
      assert.isAtLeast(runs.length, 5)
    })
  )

  it.effect("is not denied where another settler has found the payment made", () => {
    const { layer, payerOf } = claimsInMemory()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const claim = yield* settling
      yield* claims.move(claim, ClaimMove.Settled({ transaction: "0xaa" }))
      const lost = yield* Effect.flip(claims.move(claim, ClaimMove.Uncollected({ reason: "expired" })))
      assert.strictEqual(lost._tag, "ClaimLost")
      assert.deepInclude(payerOf(), { places: [], denied: null, settledLast: claim.record.ticket })
    }).pipe(Effect.provide(layer))
  })

  it.effect("stays denied where another settler has come to the same end", () => {
    const { layer, payerOf } = claimsInMemory()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const claim = yield* settling
      for (const reason of ["expired", "again"])
        yield* Effect.ignore(claims.move(claim, ClaimMove.Uncollected({ reason })))
      assert.strictEqual(payerOf()?.denied?.reason, "expired")
      assert.strictEqual(yield* lostUsd, price / 1e6, "it is lost once")
    }).pipe(Effect.provide(layer))
  })

  for (const isPayersDoing of [true, false])
    for (const isGivenOut of [true, false]) {
      const doing = isPayersDoing ? "by its doing" : "by nobody's doing"
      const given = isGivenOut ? "given out" : "withheld"
      it.effect(`is denied only for an answer that was given out: one that is ${given}, unpaid ${doing}`, () => {
        const { layer, payerOf } = claimsInMemory()
        return Effect.gen(function* () {
          const claims = yield* Claims
          const claim = yield* settling
          if (isGivenOut) yield* claims.expose(claim)
          yield* claims.move(claim, ClaimMove.Withheld({ reason: "expired", isPayersDoing }))
          assert.strictEqual(payerOf()?.denied?.claimKey, isGivenOut ? claim.key : undefined)
          assert.strictEqual(payerOf()?.credit?.owed.microUsd ?? 0, isPayersDoing ? price : 0)
          assert.deepStrictEqual(payerOf()?.places, [])
        }).pipe(Effect.provide(layer))
      })
    }
})

describe("a call that is lost", () => {
  it.effect("counts against all new payers by what its payer had not earned", () => {
    const options = optionsFor(8)
    const { layer, kv } = claimsInMemory(recorder(), { ...options, credit: { ...options.credit, payerMax: price } })
    const lost = () =>
      (kv.entries.get("authorizations")?.get("newcomers")?.value as { microUsd: number } | undefined)?.microUsd
    return Effect.gen(function* () {
      const claims = yield* Claims
      const leave = (name: string) =>
        Effect.flatMap(claims.claim(checkedPayment(name), testCall()), (claim) =>
          claims.move(claim, ClaimMove.Release({ reason: "its caller left", isPayersDoing: true }))
        )
      yield* claims.move(yield* settling, ClaimMove.Settled({ transaction: "0xaa" }))
      yield* leave("two")
      assert.isUndefined(lost(), "the payer had earned it")
      yield* leave("three")
      assert.strictEqual(lost(), price)
    }).pipe(Effect.provide(layer))
  })
})

describe("a claim that is released as it was read", () => {
  it.effect("gives its place back", () => {
    const { layer, places, stateOf } = claimsInMemory()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const claim = yield* claims.claim(checkedPayment("one"), testCall())
      yield* claims.moveAsRead(claim, ClaimMove.Release({ reason: "lease ended" }))
      assert.deepStrictEqual([places(), stateOf(claim.key)], [[], "RELEASED"])
    }).pipe(Effect.provide(layer))
  })
})

it.effect("an amount is counted in dollars by the decimals of its network's token", () => {
  const decimals = new Map([[testRequirements.network, 8]])
  return Effect.gen(function* () {
    const claims = yield* Claims
    const { record } = yield* claims.claim(checkedPayment("one"), testCall())
    const payer = { network: record.network, payer: record.payer, denied: null }
    const place = { claimKey: checkedPayment("one").claimKey, ticket: "t", amount: "100" }
    const [here, elsewhere] = [payer, { ...payer, network: "eip155:1" }].map((one) =>
      claims.unpaidOf({ ...one, places: [place] })
    )
    assert.deepStrictEqual([here?.all, elsewhere?.all], [1, 100])
  }).pipe(Effect.provide(claimsInMemory(recorder(), { ...optionsFor(8), decimals }).layer))
})

describe("a claim that has moved since it was read", () => {
  it.effect("keeps its place when it is released as read", () => {
    const { layer, places, stateOf } = claimsInMemory()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const claim = yield* claims.claim(checkedPayment("one"), testCall())
      yield* claims.move(claim, ClaimMove.Renew())
      const lost = yield* Effect.flip(claims.moveAsRead(claim, ClaimMove.Release({ reason: "lease ended" })))
      assert.strictEqual(lost._tag, "ClaimLost")
      assert.deepStrictEqual([places(), stateOf(claim.key)], [[claim.key], "CLAIMED"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("is not given out unpaid to a payer that is denied by now", () => {
    const { layer } = claimsInMemory()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const other = yield* claims.claim(checkedPayment("two"), testCall())
      yield* claims.move(yield* settling, ClaimMove.Uncollected({ reason: "expired" }))
      const refused = yield* Effect.flip(claims.expose(other))
      assert.strictEqual(refused._tag, "ExposureReached")
    }).pipe(Effect.provide(layer))
  })
})

describe("a place that no claim backs", () => {
  it.effect("is given back: lost with its own unpaid end, and otherwise taken for settled", () => {
    const { layer, payerOf } = claimsInMemory()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const orphan = (name: string) =>
        Effect.tap(claims.claim(checkedPayment(name), testCall()), (claim) => claims.expose(claim))
      const uncollected = ({ record }: Claim) => ({ ...record, state: "UNCOLLECTED", charge: "5" }) as const
      const settled = yield* orphan("one")
      yield* claims.vacate(settled.record, orphanOf(settled), { ...settled.record, state: "SETTLED" })
      assert.deepInclude(payerOf(), { places: [], settledLast: settled.record.ticket })
      const another = yield* orphan("two")
      yield* claims.vacate(another.record, orphanOf(another), { ...uncollected(another), ticket: "another life" })
      assert.deepInclude(payerOf(), { places: [], settledLast: another.record.ticket })
      assert.strictEqual(payerOf()?.credit, undefined)
      const lost = yield* orphan("three")
      yield* claims.vacate(lost.record, orphanOf(lost), uncollected(lost))
      assert.deepInclude(payerOf(), { places: [], settledLast: another.record.ticket })
      assert.strictEqual(payerOf()?.credit?.owed.microUsd, 5)
    }).pipe(Effect.provide(layer))
  })
})

describe("a job for the settlers", () => {
  it.effect(
    "goes to those of its network, once for each time that it is asked for, and never for an ended claim",
    () => {
      const { layer, jobs } = claimsInMemory()
      return Effect.gen(function* () {
        const claims = yield* Claims
        const claim = yield* settling
        yield* claims.requestSettlement(claim, null)
        const again = yield* claims.move(claim, ClaimMove.AskAgain())
        yield* claims.requestSettlement(again, null)
        yield* claims.requestSettlement(yield* claims.move(again, ClaimMove.Settled({ transaction: "0xaa" })), null)
        const { ticket } = claim.record
        assert.deepStrictEqual(
          jobs.map(({ messageId }) => messageId),
          [`${ticket}-1`, `${ticket}-2`]
        )
        assert.isTrue(jobs.every(({ subject, job }) => subject.includes("84532") && job.claimKey === claim.key))
      }).pipe(Effect.provide(layer))
    }
  )
})
