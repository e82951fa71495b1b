import { assert, describe, it } from "@effect/vitest"
import type { Receipt } from "#payments/contract"
import { csvLine, isWanted, receiptView, sumsOf, tokenOf } from "../../../../services/console/money/receipts.ts"
import { moneySettings, payerNamed, receiptOf } from "../../../support/money.ts"

const networks = moneySettings.Payments.Networks
const at = (text: string) => Date.parse(text)
const tokenIn = (receipt: Receipt) => tokenOf(networks, receipt)

describe("sums of receipts", () => {
  const days = [
    receiptOf("a", { settledAtMs: at("2026-11-22T23:59:59.999Z"), amount: "9007199254740993" }),
    receiptOf("b", { settledAtMs: at("2026-11-23T00:00:00Z"), amount: "2" }),
    receiptOf("c", { settledAtMs: at("2026-11-23T12:00:00Z"), amount: "9007199254740993" }),
    receiptOf("d", { settledAtMs: at("2026-11-23T12:00:01Z"), amount: "5", outcome: "uncollected", transaction: null })
  ]

  it("are exact beyond what a float holds, a day in UTC each, newest first", () => {
    const { items } = sumsOf("day", days, tokenIn)
    assert.deepStrictEqual(
      items.map(({ key, settled, settledCount, uncollected, uncollectedCount, decimals }) => [
        key,
        settled,
        settledCount,
        uncollected,
        uncollectedCount,
        decimals
      ]),
      [
        ["2026-11-23", "9007199254740995", 2, "5", 1, 6],
        ["2026-11-22", "9007199254740993", 1, "0", 0, 6]
      ]
    )
  })

  it("are by model the largest first, and those of receipts without a model by themselves", () => {
    const { model: _model, ...unnamed } = receiptOf("e", { amount: "7" })
    const { items } = sumsOf("model", [unnamed, receiptOf("f", { amount: "8", model: "demo/slow" })], tokenIn)
    assert.deepStrictEqual(
      items.map(({ key, settled }) => [key, settled]),
      [
        ["demo/slow", "8"],
        [null, "7"]
      ]
    )
  })

  it("take a payer in either case of hex for one, and keep assets apart", () => {
    const payer = payerNamed("bob")
    const other = `0x${"11".repeat(20)}`
    const { items } = sumsOf(
      "payer",
      [
        receiptOf("g", { payer, amount: "1" }),
        receiptOf("h", { payer: payer.toUpperCase().replace("0X", "0x"), amount: "1" }),
        receiptOf("i", { payer, amount: "1", asset: other })
      ],
      tokenIn
    )
    assert.deepStrictEqual(
      items.map(({ key, settledCount, asset, decimals }) => [key, settledCount, asset === other, decimals]),
      [
        [payer, 2, false, 6],
        [payer, 1, true, null]
      ]
    )
  })

  it("show the margin of those receipts alone whose provider's cost is known", () => {
    const some = [
      receiptOf("known", { amount: "1000", providerCost: "300" }),
      receiptOf("lost", { amount: "500", providerCost: "1500", outcome: "uncollected", transaction: null }),
      receiptOf("unknown", { amount: "70" }),
      receiptOf("other", { amount: "9", model: "demo/slow" })
    ]
    const { items } = sumsOf("model", some, tokenIn)
    assert.deepStrictEqual(
      items.map(({ key, settled, providerCost, providerCostCount, margin }) => [
        key,
        settled,
        providerCost,
        providerCostCount,
        margin
      ]),
      [
        ["demo/echo", "1070", "1800", 2, "-800"],
        ["demo/slow", "9", null, 0, null]
      ]
    )
  })

  it("name the first two hundred and count the rest", () => {
    const many = Array.from({ length: 250 }, (_, index) => receiptOf(`n${index}`, { payer: payerNamed(`n${index}`) }))
    const { items, leftOut } = sumsOf("payer", many, tokenIn)
    assert.deepStrictEqual([items.length, leftOut], [200, 50])
  })
})

describe("a filter of receipts", () => {
  const receipt = receiptOf("a", { settledAtMs: 1_000 })
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`
  const cases: ReadonlyArray<readonly [Parameters<typeof isWanted>[0], boolean]> = [
    [{}, true],
    [{ payer: upper(receipt.payer) }, true],
    [{ payer: payerNamed("bob") }, false],
    [{ transaction: upper(receipt.transaction ?? "") }, true],
    [{ transaction: `0x${"00".repeat(32)}` }, false],
    [{ model: "demo/echo" }, true],
    [{ model: "demo/slow" }, false],
    [{ outcome: "uncollected" }, false],
    [{ network: "eip155:8453" }, false],
    [{ sinceMs: 1_000, untilMs: 1_000 }, true],
    [{ sinceMs: 1_001 }, false],
    [{ untilMs: 999 }, false]
  ]
  it.each(cases)("%o wants it: %s", (filter, wants) => {
    assert.strictEqual(isWanted(filter, receipt), wants)
  })
})

describe("a receipt in a table", () => {
  it("is one line by RFC 4180, and starts no formula", () => {
    const receipt = receiptOf("a", { reason: '=HYPERLINK("x"), or so', requestedAtMs: 0, settledAtMs: 0 })
    const line = csvLine(receiptView(networks, { sequence: 3, receipt }))
    assert.isTrue(
      line.startsWith("3,1970-01-01T00:00:00.000Z,1970-01-01T00:00:00.000Z,settled,eip155:84532,USDC,6,1000,")
    )
    assert.include(line, `,"'=HYPERLINK(""x""), or so",`)
    assert.isTrue(line.endsWith(`,${receipt.claimKey},,exact,,\r\n`))
    const costing = { ...receipt, providerCost: "300" }
    assert.isTrue(csvLine(receiptView(networks, { sequence: 3, receipt: costing })).endsWith(",300,exact,,\r\n"))
    const back = { ...receipt, outcome: "refunded" as const, refund: "ticket-1" }
    assert.isTrue(csvLine(receiptView(networks, { sequence: 4, receipt: back })).endsWith(",exact,,ticket-1\r\n"))
    const metered = { ...costing, scheme: "upto" as const, ceiling: "5000" }
    assert.isTrue(csvLine(receiptView(networks, { sequence: 3, receipt: metered })).endsWith(",300,upto,5000,\r\n"))
  })
})
