import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { VerifyAnswer } from "#contracts"
import { claimRefusalAnswer, ClaimRefused } from "#x402"
import { hasEnded, moved, type Move, timeToLiveMs } from "../../../../libs/x402/claim/claim-policy.ts"
import type { ClaimRecord, ClaimState } from "../../../../libs/x402/claim/claim-record.ts"
import { isPlaceNeeded, newPayer, withoutPlace, withPlace } from "../../../../libs/x402/claim/payer-policy.ts"
import { dueMove, moveOf } from "../../../../libs/x402/claim/sweep-policy.ts"
import { testPayload, testRequirements } from "../../../support/payments.ts"

const record = (state: ClaimState, kind: ClaimRecord["kind"] = "whole"): ClaimRecord => ({
  state,
  network: testRequirements.network,
  asset: testRequirements.asset,
  payer: "0xAA",
  payTo: testRequirements.payTo,
  amount: "25685",
  binding: "0".repeat(64),
  kind,
  holder: "gateway-1",
  ticket: "t0",
  moves: 0,
  validBeforeMs: 1_000_000,
  claimedAtMs: 0,
  requestedAtMs: null,
  transactions: [],
  asked: 0,
  reason: null,
  payment: { payload: testPayload("one"), requirements: testRequirements }
})

const steps: Readonly<Record<Move["_tag"], Move>> = {
  Renew: { _tag: "Renew" },
  Serve: { _tag: "Serve" },
  Settle: { _tag: "Settle", atMs: 5 },
  AskAgain: { _tag: "AskAgain" },
  Prepare: { _tag: "Prepare", transaction: "0xaa" },
  Settled: { _tag: "Settled", transaction: "0xaa" },
  Uncollected: { _tag: "Uncollected", reason: "expired" },
  Release: { _tag: "Release", reason: "upstream failed" }
}

const allowed: Readonly<Record<ClaimState, Readonly<Partial<Record<Move["_tag"], ClaimState>>>>> = {
  CLAIMED: { Renew: "CLAIMED", Serve: "SERVING", Settle: "SETTLING", Release: "RELEASED" },
  SERVING: { Renew: "SERVING", Settle: "SETTLING", Release: "RELEASED" },
  SETTLING: { AskAgain: "SETTLING", Prepare: "SETTLING", Settled: "SETTLED", Uncollected: "UNCOLLECTED" },
  SETTLED: {},
  UNCOLLECTED: {},
  RELEASED: {}
}

describe("the life of a claim", () => {
  for (const [from, targets] of Object.entries(allowed)) {
    it(`from ${from} leads to ${[...new Set(Object.values(targets))].join(", ") || "nowhere"}`, () => {
      for (const step of Object.values(steps)) {
        const next = moved(record(from as ClaimState), step)
        assert.strictEqual(next?.state, targets[step._tag], step._tag)
      }
    })
  }

  it("keeps what settling needs until it has ended, and every transaction that was signed, up to eight", () => {
    let claim = moved(record("SERVING"), steps.Settle)
    for (let index = 0; index < 12 && claim !== undefined; index += 1) {
      claim = moved(claim, { _tag: "Prepare", transaction: `0x${index}` })
    }
    assert.strictEqual(claim?.transactions.length, 8)
    assert.strictEqual(claim?.transactions.at(-1), "0x11")
    assert.isNotNull(claim?.payment)
    const ended = claim && moved(claim, { _tag: "Settled", transaction: "0x5" })
    assert.isNull(ended?.payment)
    assert.strictEqual(ended?.transactions.at(-1), "0x5")
  })

  it("is kept without end while it lasts, a day after its payment's end when settled, minutes when released", () => {
    const keptMs = 86_400_000
    for (const state of ["CLAIMED", "SERVING", "SETTLING"] as const) {
      assert.isUndefined(timeToLiveMs(record(state), { keptMs }, 0))
    }
    assert.strictEqual(timeToLiveMs(record("SETTLED"), { keptMs }, 400_000), 600_000 + keptMs)
    assert.strictEqual(timeToLiveMs(record("UNCOLLECTED"), { keptMs }, 2_000_000), keptMs)
    assert.strictEqual(timeToLiveMs(record("RELEASED"), { keptMs }, 400_000), 1_200_000)
  })
})

describe("the sweep's decision", () => {
  const times = { leaseMs: 15_000, settleWithinMs: 30_000 }
  const live = (state: ClaimState, asked = 1) => ({ state, asked, writtenAtMs: 100_000 })

  it("lets a lease run out by the millisecond", () => {
    assert.isUndefined(dueMove(live("CLAIMED"), 114_999, times))
    assert.strictEqual(dueMove(live("CLAIMED"), 115_000, times), "Release")
    assert.strictEqual(dueMove(live("SERVING"), 115_000, times), "Settle")
    assert.isUndefined(dueMove(live("SETTLED"), 10 ** 9, times))
  })

  it("asks again twice as late each time, at most every sixteen minutes", () => {
    for (const [asked, afterMs] of [
      [1, 30_000],
      [2, 60_000],
      [4, 240_000],
      [6, 960_000],
      [60, 960_000]
    ] as const) {
      assert.isUndefined(dueMove(live("SETTLING", asked), 100_000 + afterMs - 1, times))
      assert.strictEqual(dueMove(live("SETTLING", asked), 100_000 + afterMs, times), "AskAgain")
    }
  })
})

describe("a payer's places", () => {
  const place = { claimKey: "k1", ticket: "t1" }

  it("are held once by a claim, taken over by its next life, and full at the limit", () => {
    const one = withPlace(newPayer("n", "p"), place, 1)
    if (one._tag !== "Taken") return assert.fail(one._tag)
    assert.strictEqual(withPlace(one.record, place, 1)._tag, "Held")
    assert.strictEqual(withPlace(one.record, { claimKey: "k2", ticket: "t" }, 1)._tag, "Full")
    const next = withPlace(one.record, { claimKey: "k1", ticket: "t2" }, 1)
    assert.deepStrictEqual(next._tag === "Taken" && next.record.places, [{ claimKey: "k1", ticket: "t2" }])
    const denied = { ...one.record, denied: { claimKey: "k0", reason: "r", sinceMs: 0 } }
    assert.strictEqual(withPlace(denied, place, 9)._tag, "Denied")
  })

  it("are given back by the life that took them, or by whichever once the claim has ended", () => {
    const held = { ...newPayer("n", "p"), places: [place] }
    assert.isUndefined(withoutPlace(held, "k1", "t0"))
    assert.deepStrictEqual(withoutPlace(held, "k1", "t1")?.places, [])
    assert.deepStrictEqual(withoutPlace(held, "k1", null)?.places, [])
    assert.isTrue(isPlaceNeeded({ claimKey: "k1", ticket: "t0" }, record("SETTLING")))
    assert.isFalse(isPlaceNeeded(place, record("SETTLING")))
    assert.isFalse(isPlaceNeeded({ claimKey: "k1", ticket: "t0" }, record("SETTLED")))
    assert.isFalse(isPlaceNeeded(place, null))
  })
})

describe("a refused claim", () => {
  const answer = (why: ClaimRefused["why"]) =>
    claimRefusalAnswer(new ClaimRefused({ why, claimKey: "claim.a.b.c.d", payer: "0xp" }))

  it("is told as a replay with the claim in the way, as a debt, or as a call that may be made again", () => {
    const refused = { _tag: "Refused", payer: "0xp" } as const
    assert.deepStrictEqual(answer("replay"), {
      ...refused,
      code: "PAYMENT_REPLAY",
      reason: "nonce_already_used",
      claimKey: "claim.a.b.c.d"
    })
    assert.deepStrictEqual(answer("denied"), {
      ...refused,
      code: "PAYMENT_INVALID",
      reason: "payer_owes_an_uncollected_payment"
    })
    const later = { _tag: "Unavailable", retryAfterSeconds: 1, reason: "unsettled_payment_exists" } as const
    assert.deepStrictEqual(answer("exposure"), later)
    for (const why of ["replay", "denied", "exposure"] as const) assert.isTrue(Schema.is(VerifyAnswer)(answer(why)))
  })
})

/** One key of the bucket: a write succeeds only on the revision it names. */
const makeKey = () => {
  let stored: { readonly record: ClaimRecord; readonly revision: number } | undefined
  let revision = 0
  return {
    read: () => stored,
    write: (next: ClaimRecord, expected: number) => {
      if ((stored?.revision ?? 0) !== expected) return undefined
      revision += 1
      stored = { record: next, revision }
      return revision
    }
  }
}

describe("whatever is done, by whomever, and whoever crashes in between", () => {
  const actors = 4
  // A crash forgets what the actor had read; a look reads anew; all else writes from what it read last.
  const deeds = [
    "crash",
    "look",
    "look",
    "look",
    "claim",
    "sweep",
    ...(Object.keys(steps) as Array<Move["_tag"]>)
  ] as const
  const scriptOf = (seed: number) => {
    let state = seed >>> 0
    const below = (bound: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * bound)
    }
    return Array.from({ length: 200 }, () => ({ actor: below(actors), does: deeds[below(deeds.length)] ?? "look" }))
  }
  const reached = new Set<string>()

  it.prop(
    "a payment has one holder at a time, is never free again once it is to be settled, and ends once",
    [Schema.Int],
    ([seed]) => {
      const script = scriptOf(seed)
      const key = makeKey()
      const seen: Array<ReturnType<typeof key.read>> = Array.from({ length: actors })
      const history: Array<ClaimRecord> = []
      const writesOf = new Map<number, number>()
      let tickets = 0
      for (const { actor, does } of script) {
        const known = seen[actor]
        if (does === "crash") seen[actor] = undefined
        if (does === "look") seen[actor] = key.read()
        if (does === "crash" || does === "look") continue
        let next: ClaimRecord | undefined
        if (does === "claim") {
          const isFree = known === undefined || known.record.state === "RELEASED"
          next = isFree ? { ...record("CLAIMED"), ticket: `t${(tickets += 1)}` } : undefined
        } else if (does === "sweep" && known !== undefined) {
          const due = dueMove({ ...known.record, writtenAtMs: 0 }, 10 ** 9, { leaseMs: 1, settleWithinMs: 1 })
          next = due === undefined ? undefined : moved(known.record, moveOf(due, 0))
        } else if (does !== "sweep" && known !== undefined) next = moved(known.record, steps[does])
        if (next === undefined) continue
        const written = key.write(next, known?.revision ?? 0)
        if (written === undefined) continue
        writesOf.set(written, (writesOf.get(written) ?? 0) + 1)
        seen[actor] = { record: next, revision: written }
        history.push(next)
        reached.add(next.state)
      }
      let mustSettle = false
      for (const [index, now] of history.entries()) {
        const before = history[index - 1]
        if (mustSettle) assert.include(["SETTLING", "SETTLED", "UNCOLLECTED"], now.state)
        mustSettle ||= now.state === "SETTLING"
        if (before !== undefined && before.ticket !== now.ticket) assert.strictEqual(before.state, "RELEASED")
        if (before !== undefined && hasEnded(before.state)) assert.strictEqual(before.state, "RELEASED")
      }
      assert.isTrue([...writesOf.values()].every((writes) => writes === 1))
    },
    { arbitrary: { runs: 500 } }
  )

  it("and the walks that showed it have been in every state", () => {
    assert.deepStrictEqual([...reached].toSorted(), Object.keys(allowed).toSorted())
  })
})
