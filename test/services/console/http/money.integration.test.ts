import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { isoTime } from "#base"
import type { Publisher } from "#bus"
import { ClaimMove, Claims } from "#payments"
import { type Call, codeOf, itemsOf, type Json, withConsole } from "../../../support/console.ts"
import { moneySettings, payerNamed, receiptOf, storeReceipt } from "../../../support/money.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"
import { creditOf } from "../../../../dev/fixtures/payment-accounts.ts"

const listed = (call: Call, query: string) =>
  Effect.map(call(`GET /receipts?${query}`), ({ body }) => itemsOf(body).map(({ sequence }) => sequence))

const withMoney = (test: (call: Call) => Effect.Effect<void, unknown, Claims | Publisher>) =>
  withConsole((call) => Effect.provide(test(call), claimsLayer), moneySettings)

const claimsLayer = Layer.fresh(Claims.layer({ credit: creditOf(1), keptMs: 86_400_000 }))

const bob = payerNamed("bob")

/** Five receipts: 1, 3 and 5 of alice, 2 and 4 of bob; the fourth was not collected. */
const fiveReceipts = Effect.gen(function* () {
  const dayMs = 86_400_000
  const nowMs = yield* Clock.currentTimeMillis
  for (let index = 1; index <= 5; index += 1) {
    yield* storeReceipt(
      receiptOf(`number ${index}`, {
        ...(index % 2 === 0 ? { payer: bob } : {}),
        ...(index === 4 ? { outcome: "uncollected", transaction: null, reason: "insufficient_funds" } : {}),
        amount: String(index * 1_000),
        ...(index < 4 ? {} : { providerCost: String(index * 600) }),
        model: index < 3 ? "demo/echo" : "demo/slow",
        settledAtMs: nowMs - (index === 1 ? dayMs : 0)
      })
    )
  }
})

describe("receipts on the console", () => {
  it.live("are listed newest first by every filter, in pages that leave none out", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          yield* fiveReceipts
          const third = receiptOf("number 3")
          const nowMs = yield* Clock.currentTimeMillis
          const hoursOn = (hours: number) => isoTime(nowMs + hours * 3_600_000)
          const cases: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
            ["", [5, 4, 3, 2, 1]],
            [`payer=${bob}`, [4, 2]],
            [`network=eip155:84532&payer=${bob.toUpperCase().replace("0X", "0x")}`, [4, 2]],
            ["network=eip155:8453", []],
            ["model=demo/echo", [2, 1]],
            ["outcome=uncollected", [4]],
            [`transaction=${third.transaction}`, [3]],
            [`since=${hoursOn(-1)}`, [5, 4, 3, 2]],
            [`until=${hoursOn(-1)}`, []],
            [`until=${hoursOn(1)}&outcome=uncollected`, [4]]
          ]
          for (const [query, wanted] of cases) assert.deepStrictEqual(yield* listed(call, query), [...wanted], query)

          const first = yield* call("GET /receipts?model=demo/slow&limit=2")
          assert.deepStrictEqual(
            itemsOf(first.body).map(({ sequence }) => sequence),
            [5, 4]
          )
          const rest = yield* listed(call, `model=demo/slow&limit=2&cursor=${String(first.body["nextCursor"])}`)
          assert.deepStrictEqual(rest, [3])
          const wrong = yield* call("GET /receipts?payer=no%20payer&outcome=lost")
          assert.deepStrictEqual([wrong.status, codeOf(wrong.body)], [400, "validation_failed"])
        }),
      moneySettings
    )
  )

  it.live("are shown whole with exact amounts, and with their claim while it is kept", () =>
    withMoney((call) =>
      Effect.gen(function* () {
        const claims = yield* Claims
        const claim = yield* claims.claim(checkedPayment("one"), { ...testCall(), model: "demo/echo" })
        const { key, record } = claim
        yield* storeReceipt(receiptOf("one", { claimKey: key, payer: record.payer, amount: record.amount }))
        yield* storeReceipt(receiptOf("forgotten"))

        const { body } = yield* call("GET /receipts/1")
        assert.include(body, { amount: "25685", decimals: 6, symbol: "USDC", model: "demo/echo", claimKey: key })
        assert.include(body["claim"] as Json, { state: "CLAIMED", model: "demo/echo" })
        assert.strictEqual((yield* call("GET /receipts/2")).body["claim"], null)
        assert.strictEqual((yield* call("GET /receipts/3")).status, 404)
      })
    )
  )

  it.live("come as a table of the same filter, oldest first, that continues after a line", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          yield* fiveReceipts
          const table = Effect.fnUntraced(function* (query: string) {
            const { status, body } = yield* call(`GET /receipts.csv?${query}`)
            assert.strictEqual(status, 200)
            return String(body["text"]).trimEnd().split("\r\n")
          })
          const [head, ...lines] = yield* table("")
          assert.isTrue(head?.startsWith("sequence,endedAt,"))
          assert.deepStrictEqual(
            lines.map((line) => line.split(",")[0]),
            ["1", "2", "3", "4", "5"]
          )
          const [, ...some] = yield* table(`payer=${bob}&after=2`)
          assert.strictEqual(some.length, 1)
          assert.match(
            some[0] ?? "",
            /^4,.*,uncollected,.*,4000,.*,demo\/slow,,insufficient_funds,claim\.[^,]*,2400,exact,,$/u
          )
          assert.isTrue(head?.endsWith(",claimKey,providerCost,scheme,ceiling,refund"))
          assert.match(lines[0] ?? "", /,claim\.[^,]*,,exact,,$/u)
          assert.lengthOf(yield* table("after=5"), 1)
        }),
      moneySettings
    )
  )

  it.live("are summed up by day, model and payer, with how much was read", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          yield* fiveReceipts
          const sums = Effect.fnUntraced(function* (query: string) {
            const { body } = yield* call(`GET /receipts/sums?${query}`)
            assert.include(body, { isWhole: true, leftOut: 0 })
            return itemsOf(body).map(({ key, settled, uncollected }) => [key, settled, uncollected])
          })
          const today = isoTime(yield* Clock.currentTimeMillis).slice(0, 10)
          const [first, second] = yield* sums("")
          assert.deepStrictEqual(first, [today, "10000", "4000"])
          assert.deepStrictEqual(second?.slice(1), ["1000", "0"])
          assert.deepStrictEqual(yield* sums("by=model"), [
            ["demo/slow", "8000", "4000"],
            ["demo/echo", "3000", "0"]
          ])
          assert.deepStrictEqual(yield* sums(`by=payer&payer=${bob}`), [[bob, "2000", "4000"]])
          const [slow, echo] = itemsOf((yield* call("GET /receipts/sums?by=model")).body)
          // The fifth earned 5000 for 3000, the fourth nothing for 2400; of the third nothing is known.
          assert.include(slow, { providerCost: "5400", providerCostCount: 2, margin: "-400" })
          assert.include(echo, { providerCost: null, providerCostCount: 0, margin: null })
          const both = itemsOf((yield* call("GET /receipts?model=demo/slow")).body)
          assert.deepStrictEqual(
            both.map(({ providerCost }) => providerCost),
            ["3000", "2400", null]
          )
          assert.strictEqual((yield* call("GET /receipts/sums")).body["read"], 5)
          const none = yield* call("GET /receipts/sums?network=eip155:8453")
          assert.include(none.body, { isWhole: true, read: 0, from: null, to: null })
        }),
      moneySettings
    )
  )
})

describe("claims on the console", () => {
  it.live("are listed by state, the one that has not moved for longest first, and in pages", () =>
    withMoney((call) =>
      Effect.gen(function* () {
        const claims = yield* Claims
        const made = []
        for (const name of ["one", "two", "three"]) {
          made.push(yield* claims.claim(checkedPayment(name), testCall("stream")))
        }
        const [one, two, three] = made
        if (one === undefined || two === undefined || three === undefined) throw new Error("three claims")
        yield* claims.move(one, ClaimMove.Settle())
        yield* claims.move(two, ClaimMove.Release({ reason: "a test" }))
        yield* claims.claim(checkedPayment("four", "bob"), testCall())

        const keys = Effect.fnUntraced(function* (query: string) {
          const { body } = yield* call(`GET /claims?${query}`)
          return itemsOf(body).map(({ key, state }) => [key, state])
        })
        const four = checkedPayment("four", "bob")
        assert.deepStrictEqual(yield* keys(""), [
          [three.key, "CLAIMED"],
          [one.key, "SETTLING"],
          [four.claimKey, "CLAIMED"]
        ])
        assert.deepStrictEqual(yield* keys("state=RELEASED"), [[two.key, "RELEASED"]])
        assert.deepStrictEqual(yield* keys(`payer=${four.payer}`), [[four.claimKey, "CLAIMED"]])
        assert.deepStrictEqual(yield* keys("state=SETTLED"), [])
        const first = yield* call("GET /claims?limit=1")
        const rest = yield* keys(`cursor=${String(first.body["nextCursor"])}`)
        assert.deepStrictEqual(rest, [
          [one.key, "SETTLING"],
          [four.claimKey, "CLAIMED"]
        ])
      })
    )
  )

  it.live("are shown whole, with their receipts and what their payer owes, and without a signature", () =>
    withMoney((call) =>
      Effect.gen(function* () {
        const claims = yield* Claims
        const claim = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        const settling = yield* claims.move(claim, ClaimMove.Settle())
        yield* claims.move(settling, ClaimMove.Uncollected({ reason: "insufficient_funds" }))
        const { key, record } = claim
        yield* storeReceipt(receiptOf("other", { payer: record.payer }))
        yield* storeReceipt(
          receiptOf("one", { claimKey: key, payer: record.payer, outcome: "uncollected", transaction: null })
        )
        // More than a page of the payer's, and more than the broker gives at once.
        const later = Array.from({ length: 1_100 }, () => storeReceipt(receiptOf("later", { payer: record.payer })))
        yield* Effect.all(later, { concurrency: 64, discard: true })

        const { status, body } = yield* call(`GET /claims/${key}`)
        assert.strictEqual(status, 200)
        assert.include(body, { state: "UNCOLLECTED", reason: "insufficient_funds", amount: "25685", payerPlaces: 0 })
        assert.include(body, { hasAllReceipts: true })
        assert.deepStrictEqual(
          (body["receipts"] as ReadonlyArray<Json>).map(({ sequence }) => sequence),
          [2]
        )
        assert.include(body["payerDenied"] as Json, { claimKey: key, reason: "insufficient_funds" })
        const pending = yield* claims.claim(checkedPayment("two", "bob"), testCall())
        const shown = JSON.stringify((yield* call(`GET /claims/${pending.key}`)).body)
        assert.include(shown, "CLAIMED")
        assert.notInclude(shown, "1b1b1b")
      })
    )
  )
})
