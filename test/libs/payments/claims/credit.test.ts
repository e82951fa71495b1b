import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  afterLost,
  afterPaid,
  Credit,
  type CreditTerms,
  hasRoom,
  judgeCredit,
  noCredit,
  owedAt
} from "../../../../libs/payments/claims/credit.ts"
import {
  afterSettled,
  afterUnpaid,
  newPayer,
  type PayerRecord,
  placeOf,
  unpaidOf,
  withoutPlace,
  withPlace
} from "../../../../libs/payments/claims/PayerStore.ts"

const terms: CreditTerms = { newPayerMax: 100, payerMax: 1_000, newPayersMax: 400 }
const dayMs = 86_400_000
const credit = (earned: number, owed = 0, atMs = 0): Credit => ({ earned, owed: { microUsd: owed, atMs } })

describe("a payer's credit", () => {
  const table: ReadonlyArray<readonly [string, Parameters<typeof judgeCredit>[0], number | "refused"]> = [
    ["a newcomer's first call", { credit: noCredit, unpaid: 0, price: 30 }, 30],
    ["its calls up to the bound", { credit: noCredit, unpaid: 70, price: 30 }, 30],
    ["none beyond it", { credit: noCredit, unpaid: 80, price: 30 }, "refused"],
    ["one call of any price, alone", { credit: noCredit, unpaid: 0, price: 5_000 }, 5_000],
    ["none beside that", { credit: noCredit, unpaid: 5_000, price: 1 }, "refused"],
    [
      "what was paid before, without a part in what newcomers share",
      { credit: credit(200), unpaid: 170, price: 30 },
      0
    ],
    ["both, one after the other", { credit: credit(200), unpaid: 190, price: 30 }, 20],
    ["no more than both", { credit: credit(200), unpaid: 290, price: 30 }, "refused"],
    ["what is left of the bound beside what it owes", { credit: credit(0, 60), unpaid: 0, price: 40 }, 40],
    ["nothing dear while it owes", { credit: credit(0, 60), unpaid: 0, price: 41 }, "refused"]
  ]
  it.each(table)("allows %s", (_, asked, beyond) => {
    const verdict = judgeCredit(asked, terms, 0)
    assert.strictEqual(verdict._tag === "Given" ? verdict.beyond : "refused", beyond)
  })

  it("grows with what was paid, up to the most, after what is owed", () => {
    assert.deepStrictEqual(afterPaid(noCredit, 40, terms, 5), credit(40))
    assert.deepStrictEqual(afterPaid(credit(990), 40, terms, 5), credit(1_000))
    assert.deepStrictEqual(afterPaid(credit(0, 60, 5), 40, terms, 5), credit(0, 20, 5))
    assert.deepStrictEqual(afterPaid(credit(0, 60, 5), 90, terms, 5), credit(30))
  })

  it("pays for what is lost, and owes the rest until it is paid or a day is over", () => {
    assert.deepStrictEqual(afterLost(credit(100), 60, 5), { credit: credit(40), beyond: 0 })
    assert.deepStrictEqual(afterLost(credit(40), 60, 5), { credit: credit(0, 20, 5), beyond: 20 })
    const { owed } = credit(0, 100, 1_000)
    assert.deepStrictEqual(
      [0, 1_000, 1_000 + dayMs / 2, 1_000 + dayMs, 10 ** 13].map((nowMs) => owedAt(owed, nowMs)),
      [100, 100, 50, 0, 0]
    )
    assert.strictEqual(owedAt({ microUsd: dayMs, atMs: dayMs / 2 }, dayMs), dayMs / 2)
  })

  it("says when to come again: soon while a call may end, at last when what is owed is forgotten", () => {
    const again = (asked: Parameters<typeof judgeCredit>[0], nowMs: number) => {
      const verdict = judgeCredit(asked, terms, nowMs)
      return verdict._tag === "Refused" ? verdict.retryAfterSeconds : 0
    }
    assert.strictEqual(again({ credit: noCredit, unpaid: 100, price: 30 }, 0), 1)
    assert.strictEqual(again({ credit: credit(0, 100), unpaid: 1, price: 30 }, 0), 1)
    assert.strictEqual(again({ credit: credit(0, 100), unpaid: 0, price: 30 }, 0), 3_600)
    assert.strictEqual(again({ credit: credit(0, 100), unpaid: 0, price: 100 }, dayMs - 60_000), 60)
    const soonMs = dayMs / 4 - 60_000
    assert.strictEqual(again({ credit: credit(0, 100), unpaid: 0, price: 25 }, soonMs), 60)
    assert.strictEqual(again({ credit: credit(0, 100), unpaid: 0, price: 25 }, soonMs + 60_000), 0)
  })
})

it("a credit of nothing is one that can be stored", () => {
  assert.isTrue(Schema.is(Credit)(noCredit))
})

describe("the bound of all newcomers", () => {
  it("is handed out by a quarter of what is left between two sums, or by one call", () => {
    const known = { unpaid: 100, owed: { microUsd: 100, atMs: 0 }, given: 0 }
    const room = (given: number, beyond: number, unpaid = 100) => hasRoom({ ...known, unpaid, given }, beyond, terms, 0)
    assert.deepStrictEqual([room(20, 30), room(20, 31), room(0, 200), room(0, 201)], [true, false, true, false])
    assert.deepStrictEqual([room(0, 1, 300), room(0, 1, 500)], [false, false])
    assert.isTrue(hasRoom({ unpaid: 0, owed: { microUsd: 0, atMs: 0 }, given: 0 }, 5_000, terms, 0))
  })
})

/** Verifiers with a memory of their own, payers in one bucket, and a sweep that sums up. */
const world = (processes: number) => {
  const payers = new Map<string, PayerRecord>()
  let sequence = 0
  let nowMs = 0
  let pool = { microUsd: 0, atMs: 0 }
  let sum = { unpaid: 0, asOf: 0, nth: 0 }
  const known = Array.from({ length: processes }, () => ({
    ...sum,
    owed: pool,
    given: new Map<string, [number, number]>()
  }))
  const byAmount = { microUsdOf: (_: string, amount: bigint) => Number(amount) }
  const payerOf = (name: string) => payers.get(name) ?? newPayer("eip155:1", name)
  const look = (process: number) => {
    const mine = known[process]
    if (mine === undefined) return
    Object.assign(mine, sum, { owed: pool })
    for (const [ticket, [, at]] of mine.given) if (at <= sum.asOf) mine.given.delete(ticket)
  }
  const begin = (process: number, name: string, price: number): string | undefined => {
    const mine = known[process]
    if (mine === undefined) return undefined
    // A process looks every second, and the sweep sums up every two.
    if (mine.nth < sum.nth - 1) look(process)
    const ticket = `t${(sequence += 1)}`
    const given = [...mine.given.values()].reduce((all, [beyond]) => all + beyond, 0)
    const taken = withPlace(
      payerOf(name),
      placeOf(`claim.n.a.${name}.${ticket}`, { ticket, amount: String(price), kind: "whole" }),
      { credit: terms, ...byAmount, nowMs, hasRoom: (beyond) => hasRoom({ ...mine, given }, beyond, terms, nowMs) }
    )
    if (taken._tag !== "Taken") return undefined
    payers.set(name, taken.record)
    if (taken.beyond > 0) mine.given.set(ticket, [taken.beyond, sequence])
    return ticket
  }
  const end = (name: string, ticket: string, how: "paid" | "lost" | "released") => {
    const record = payerOf(name)
    const claimKey = `claim.n.a.${name}.${ticket}`
    const microUsd = Number(record.places.find((place) => place.ticket === ticket)?.amount ?? "0")
    const ended = { claimKey, ticket, microUsd, nowMs }
    sequence += 1
    if (how === "paid") payers.set(name, afterSettled(record, ended, terms))
    if (how === "released") payers.set(name, withoutPlace(record, claimKey, ticket) ?? record)
    if (how !== "lost") return
    const after = afterUnpaid(record, ended, ticket)
    if (after === undefined) return
    payers.set(name, after.record)
    pool = { microUsd: owedAt(pool, nowMs) + after.beyond, atMs: nowMs }
  }
  const sweep = () => {
    const unpaid = [...payers.values()].reduce((all, record) => all + unpaidOf(record, byAmount).beyond, 0)
    sum = { unpaid, asOf: sequence, nth: sum.nth + 1 }
  }
  return { begin, end, look, sweep, wait: (ms: number) => void (nowMs += ms), payers }
}

const scriptOf = (seed: number) => {
  let state = seed >>> 0
  return (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

describe("any calls of any payers, by several processes, that end in any way", () => {
  const priceMax = 40
  const reached = { payer: 0, all: 0 }

  it.prop(
    "cost no more than was paid before and the bounds",
    [Schema.Int],
    ([seed]) => {
      const below = scriptOf(seed)
      const processes = 1 + below(3)
      const { begin, end, look, sweep } = world(processes)
      const open: Array<{ readonly name: string; readonly ticket: string; readonly price: number }> = []
      const books = new Map<string, { paid: number; lost: number }>()
      const bookOf = (name: string) => books.get(name) ?? { paid: 0, lost: 0 }
      for (let step = 0; step < 300; step += 1) {
        const deed = below(10)
        if (deed === 0) sweep()
        else if (deed === 1) look(below(processes))
        else if (deed < 7) {
          const name = `p${below(12)}`
          const price = 1 + below(priceMax)
          const ticket = begin(below(processes), name, price)
          if (ticket !== undefined) open.push({ name, ticket, price })
        } else {
          const [one] = open.splice(below(open.length), 1)
          if (one === undefined) continue
          const how = (["paid", "lost", "lost", "released"] as const)[below(4)] ?? "lost"
          end(one.name, one.ticket, how)
          const book = bookOf(one.name)
          if (how === "paid") books.set(one.name, { ...book, paid: book.paid + one.price })
          if (how === "lost") books.set(one.name, { ...book, lost: book.lost + one.price })
        }
        const beyondOf = (name: string) => {
          const { paid, lost } = bookOf(name)
          return open.reduce((all, one) => all + (one.name === name ? one.price : 0), lost - paid)
        }
        const beyond = [...new Set([...books.keys(), ...open.map((one) => one.name)])].map(beyondOf)
        reached.payer = Math.max(reached.payer, ...beyond)
        assert.isAtMost(Math.max(0, ...beyond), terms.newPayerMax)
        const all = beyond.reduce((sum, one) => sum + Math.max(0, one), 0)
        reached.all = Math.max(reached.all, all)
        assert.isAtMost(all, terms.newPayersMax + processes * priceMax)
      }
    },
    { arbitrary: { runs: 100 } }
  )

  it("reach both bounds", () => {
    assert.isAtLeast(reached.payer, terms.newPayerMax - priceMax)
    assert.isAtLeast(reached.all, terms.newPayersMax - priceMax)
  })

  it.prop(
    "leave room for who pays: a payer that has paid is served whatever others do, and a new one once a day is over",
    [Schema.Int],
    ([seed]) => {
      const below = scriptOf(seed)
      const { begin, end, look, sweep, wait } = world(2)
      const honest = begin(0, "honest", 30)
      if (honest === undefined) return assert.fail("a first call is refused")
      end("honest", honest, "paid")
      // Whoever has wallets enough takes up all that newcomers may have, and pays nothing.
      const left: Array<readonly [name: string, ticket: string]> = []
      for (let wallet = 0; wallet < 200; wallet += 1) {
        const ticket = begin(below(2), `w${wallet}`, 1 + below(priceMax))
        if (ticket !== undefined) left.push([`w${wallet}`, ticket])
        if (below(8) === 0) sweep()
      }
      assert.isAtLeast(left.length, 10)
      for (let call = 0; call < 20; call += 1) {
        const ticket = begin(below(2), "honest", 30)
        if (ticket === undefined) return assert.fail("a payer that pays is refused")
        end("honest", ticket, "paid")
      }
      for (const [name, ticket] of left) end(name, ticket, "lost")
      sweep()
      look(0)
      assert.isUndefined(begin(0, "new", priceMax))
      wait(dayMs)
      look(0)
      assert.isDefined(begin(0, "new", priceMax))
    },
    { arbitrary: { runs: 100 } }
  )
})
