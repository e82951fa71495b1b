import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { VerifyAnswer } from "#payments/contract"
import { claimRefusalAnswer, ClaimRefused } from "#payments"
import {
  chargeOf,
  moved,
  newTicket,
  timeToLiveMs,
  type ClaimState,
  dueMove
} from "../../../../libs/payments/claims/claim.ts"
import {
  type Place,
  afterSettled,
  afterUnpaid,
  amountNeeded,
  hasSettledLately,
  isGivenOut,
  isPlaceNeeded,
  newPayer,
  timeToLiveMs as payerTimeToLiveMs,
  withoutPlace,
  withPlace
} from "../../../../libs/payments/claims/PayerStore.ts"
import { allowed, record, steps } from "./moves.ts"

describe("the life of a claim", () => {
  for (const [from, targets] of Object.entries(allowed)) {
    it(`from ${from} leads to ${[...new Set(Object.values(targets))].join(", ") || "nowhere"}`, () => {
      for (const step of Object.values(steps)) {
        const next = moved(record(from as ClaimState), step, 5)
        assert.strictEqual(next?.state, targets[step._tag], step._tag)
      }
    })
  }

  it("keeps the data for its settlement until its end, and every signed transaction, up to eight", () => {
    let claim = moved(record("SERVING"), steps.Settle, 5)
    for (let index = 0; index < 12 && claim !== undefined; index += 1) {
      claim = moved(claim, { _tag: "Prepare", transaction: `0x${index}` }, 6)
    }
    assert.strictEqual(claim?.transactions.length, 8)
    assert.strictEqual(claim?.transactions.at(-1), "0x11")
    assert.isNotNull(claim?.payment)
    assert.strictEqual(claim?.requestedAtMs, 5)
    const ended = claim && moved(claim, { _tag: "Settled", transaction: "0x5" }, 7)
    assert.isNull(ended?.payment)
    assert.strictEqual(ended?.transactions.at(-1), "0x5")
    const twice = claim && moved(claim, { _tag: "Prepare", transaction: "0x5" }, 6)
    assert.strictEqual(twice?.transactions.filter((one) => one === "0x5").length, 1)
  })

  it("has no expiry while it is open, a day after its payment's end when settled, minutes when released", () => {
    const keptMs = 86_400_000
    for (const state of ["CLAIMED", "SERVING", "SETTLING"] as const) {
      assert.isUndefined(timeToLiveMs(record(state), { keptMs }, 0))
    }
    assert.strictEqual(timeToLiveMs(record("SETTLED"), { keptMs }, 400_000), 600_000 + keptMs)
    assert.strictEqual(timeToLiveMs(record("UNCOLLECTED"), { keptMs }, 2_000_000), keptMs)
    assert.strictEqual(timeToLiveMs(record("RELEASED"), { keptMs }, 400_000), 1_200_000)
  })
})

it("a claim's ticket is drawn once, however many are drawn", () => {
  const tickets = Array.from({ length: 1_000 }, newTicket)
  assert.strictEqual(new Set(tickets).size, tickets.length)
  for (const ticket of tickets) assert.match(ticket, /^[\w-]{16}$/u)
})

it("a claim is settled for its charge, and for the whole amount when it has none", () => {
  assert.deepStrictEqual([chargeOf({ amount: "9", charge: "0" }), chargeOf({ amount: "9" })], [0n, 9n])
})

describe("the sweep's decision", () => {
  const times = { leaseMs: 15_000, settleWithinMs: 30_000 }
  const live = (state: ClaimState, asked = 1) => ({ state, asked, writtenAtMs: 100_000 })

  it("ends a lease to the millisecond", () => {
    assert.isUndefined(dueMove(live("CLAIMED"), 114_999, times))
    assert.strictEqual(dueMove(live("CLAIMED"), 115_000, times), "Release")
    assert.isUndefined(dueMove(live("SERVING"), 114_999, times))
    assert.strictEqual(dueMove(live("SERVING"), 115_000, times), "Settle")
    assert.isUndefined(dueMove(live("SETTLED"), 10 ** 9, times))
  })

  it("repeats its request twice as late each time, at most every sixteen minutes", () => {
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
  const key = (nonce: string, asset = "0x2") => `claim.eip155=3a1.${asset}.0x1.${nonce}`
  const place = (nonce: string, more: Partial<Place> = {}): Place => ({
    claimKey: key(nonce),
    ticket: `of ${nonce}`,
    amount: "10",
    isGivenOut: true,
    ...more
  })
  const upTo = (newPayerMax: number, hasRoom = true) => ({
    credit: { newPayerMax, payerMax: 0, newPayersMax: 0 },
    microUsdOf: (_: string, amount: bigint) => Number(amount),
    nowMs: 0,
    hasRoom: () => hasRoom
  })
  const payerWith = (...places: ReadonlyArray<Place>) => ({ ...newPayer("n", "p"), places })

  it("are held once by a life of a claim, which counts no second time, and refused beyond the payer's credit", () => {
    const one = withPlace(newPayer("n", "p"), place("a"), upTo(19))
    if (one._tag !== "Taken") return assert.fail(one._tag)
    assert.strictEqual(one.beyond, 10)
    assert.strictEqual(withPlace(one.record, place("a"), upTo(19))._tag, "Held")
    assert.deepStrictEqual(withPlace(one.record, place("b"), upTo(19)), { _tag: "Unpaid", retryAfterSeconds: 1 })
    assert.strictEqual(withPlace(one.record, place("b"), upTo(20))._tag, "Taken")
    assert.strictEqual(withPlace(one.record, place("b"), upTo(20, false))._tag, "Crowded")
    const next = withPlace(one.record, place("a", { ticket: "next" }), upTo(19))
    // A holder that loses the claim gives back only its own place.
    const tickets = next._tag === "Taken" ? next.record.places.map(({ ticket }) => ticket) : []
    assert.deepStrictEqual(tickets, ["of a", "next"])
    const denied = { ...one.record, denied: { claimKey: "k0", reason: "r", sinceMs: 0 } }
    assert.strictEqual(withPlace(denied, place("a"), upTo(90))._tag, "Denied")
  })

  it("of whole answers are marked when one is delivered unpaid, and a record has only so many", () => {
    const whole = { isGivenOut: false }
    const held = payerWith(place("a"), place("b", whole))
    const given = withPlace(held, place("b"), null)
    if (given._tag !== "Taken") return assert.fail(given._tag)
    assert.deepStrictEqual(given.record.places, [place("a"), place("b")])
    assert.deepStrictEqual([isGivenOut(held, key("b")), isGivenOut(given.record, key("b"))], [false, true])
    const many = payerWith(...Array.from({ length: 256 }, (_, index) => place(`n${index}`, whole)))
    assert.strictEqual(withPlace(many, place("a", whole), upTo(1e6))._tag, "Full")
  })

  it("keep their payer's record, as a denial does; a history is kept for a month, and nothing else for a minute", () => {
    const credit = (earned: number, microUsd: number) => ({ earned, owed: { microUsd, atMs: 0 } })
    const denied = { claimKey: key("a"), reason: "r", sinceMs: 0 }
    const table = [
      [{ places: [place("a")] }, undefined],
      [{ places: [place("a")], credit: credit(1, 1) }, undefined],
      [{ denied }, undefined],
      [{ credit: credit(1, 0) }, 30 * 86_400_000],
      [{ credit: credit(0, 1) }, 30 * 86_400_000],
      [{ credit: credit(0, 0) }, 60_000],
      [{}, 60_000]
    ] as const
    for (const [part, keptMs] of table) assert.strictEqual(payerTimeToLiveMs({ ...payerWith(), ...part }), keptMs)
  })

  it("of payments that are settled before anything is done for them are not bounded by credit", () => {
    const taken = withPlace(payerWith(place("a"), place("b")), place("c"), null)
    assert.deepStrictEqual(taken, { _tag: "Taken", record: payerWith(place("a"), place("b"), place("c")), beyond: 0 })
  })

  it("are released by the life that took them, or by any once the claim has ended", () => {
    const held = payerWith(place("a"))
    const settling = { ...record("SETTLING"), ticket: "of a" }
    assert.isUndefined(withoutPlace(held, key("a"), "t0"))
    assert.deepStrictEqual(withoutPlace(held, key("a"), "of a")?.places, [])
    assert.deepStrictEqual(withoutPlace(held, key("a"), null)?.places, [])
    const ended = { claimKey: key("a"), ticket: "of a", microUsd: 10, nowMs: 5 }
    assert.deepStrictEqual(afterSettled(held, ended, { newPayerMax: 0, payerMax: 8, newPayersMax: 0 }), {
      ...payerWith(),
      settledLast: "of a",
      settledAtMs: 5,
      credit: { earned: 8, owed: { microUsd: 0, atMs: 0 } }
    })
    assert.deepStrictEqual(afterUnpaid(held, ended, "of a"), {
      record: { ...payerWith(), credit: { earned: 0, owed: { microUsd: 10, atMs: 5 } } },
      beyond: 10
    })
    assert.isUndefined(afterUnpaid(payerWith(), ended, null))
    assert.deepStrictEqual(
      [undefined, 0, 119_999, 120_000].map((atMs) =>
        hasSettledLately({ ...held, settledLast: "t", ...(atMs === undefined ? {} : { settledAtMs: 0 }) }, atMs ?? 1e9)
      ),
      [true, true, true, false]
    )
    assert.isTrue(isPlaceNeeded(place("a"), settling))
    assert.isFalse(isPlaceNeeded(place("a"), record("SETTLING")))
    assert.isFalse(isPlaceNeeded(place("a"), { ...settling, state: "SETTLED" }))
    assert.isFalse(isPlaceNeeded(place("a"), null))
  })

  it("need the money of all earlier ones, each once, except for money that has left the wallet", () => {
    const other = place("x", { claimKey: key("x", "0x3"), amount: "500" })
    const held = payerWith(other, place("a"), place("a", { ticket: "later life" }), place("b"), place("c"))
    const needed = (nonce: string, spent: ReadonlyArray<string> | null) =>
      amountNeeded(held, place(nonce), { spent: spent && new Set(spent.map((one) => key(one))) })
    assert.deepStrictEqual([needed("a", []), needed("b", []), needed("c", []), needed("c", null)], [10n, 20n, 30n, 30n])
    // A claim without a place comes behind all others.
    assert.strictEqual(needed("d", []), 40n)
    assert.deepStrictEqual([needed("c", ["a"]), needed("c", ["a", "b"]), needed("c", ["c"])], [20n, 10n, 30n])
    const old: Place = { claimKey: key("o"), ticket: "of an older version" }
    assert.strictEqual(amountNeeded(payerWith(old), place("a"), { spent: null }), 10n)
  })
})

describe("a refused claim", () => {
  const answer = (why: ClaimRefused["why"]) =>
    claimRefusalAnswer(new ClaimRefused({ why, claimKey: "claim.a.b.c.d", payer: "0xp" }))

  it("is a replay with the conflicting claim, a debt, or a call that may be repeated", () => {
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
    assert.deepStrictEqual(answer("unfunded"), { ...refused, code: "PAYMENT_UNFUNDED", reason: "insufficient_funds" })
    assert.deepStrictEqual(answer("exposure"), {
      _tag: "Unavailable",
      why: "exposure",
      retryAfterSeconds: 1,
      reason: "unsettled_payment_exists"
    })
    const later = (why: "unpaid" | "newcomers") =>
      claimRefusalAnswer(new ClaimRefused({ why, claimKey: "claim.a.b.c.d", payer: "0xp", retryAfterSeconds: 7 }))
    assert.deepStrictEqual(later("unpaid"), {
      _tag: "Unavailable",
      why: "exposure",
      retryAfterSeconds: 7,
      reason: "payer_has_too_much_unpaid"
    })
    assert.deepInclude(later("newcomers"), { reason: "new_payers_have_too_much_unpaid" })
    for (const why of ["replay", "denied", "exposure", "unpaid", "newcomers", "unfunded"] as const)
      assert.isTrue(Schema.is(VerifyAnswer)(answer(why)))
  })
})
