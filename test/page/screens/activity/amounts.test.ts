import { assert, describe, it } from "@effect/vitest"
import { shortened } from "../../../../page/design/shortened.ts"
import { amountText, roundedText, seriesOf, wholeTokens } from "../../../../page/screens/activity/amounts.ts"

describe("an amount", () => {
  it.each([
    ["25685", 6, "USDC", "0.025685 USDC"],
    ["1000000", 6, "USDC", "1 USDC"],
    ["1200000", 6, null, "1.2"],
    ["7", 0, "T", "7 T"],
    ["0", 6, "USDC", "0 USDC"],
    ["42", null, null, "42 units"]
  ] as const)("of %s with %s decimals of %s is %s", (amount, decimals, symbol, text) => {
    assert.strictEqual(amountText({ amount, decimals, symbol }), text)
  })

  it("is a number of whole tokens for a plot", () => {
    assert.strictEqual(wholeTokens({ amount: "1500000", decimals: 6 }), 1.5)
  })

  it.each([
    ["999999999870731268236275", 18, "999,999.999871"],
    ["1000000", 6, "1"],
    ["5", null, "5 units"]
  ])("rounds %s with %s decimals to %s where only its size counts", (amount, decimals, text) => {
    assert.strictEqual(roundedText({ amount, decimals, symbol: null }), text)
  })

  it("stands beside an account that is shortened in its middle", () => {
    assert.strictEqual(shortened("0x1234567890abcdef"), "0x1234…cdef")
    assert.strictEqual(shortened("2026-11-24"), "2026-11-24")
  })
})

describe("sums as series", () => {
  const token = { network: "eip155:1", asset: "0xa", symbol: "USDC", decimals: 6 }
  const other = { ...token, network: "eip155:2" }
  it("have days go forward, one series for each token, and gaps where nothing was paid", () => {
    const sums = [
      { ...token, key: "2026-11-24", settled: "2000000" },
      { ...token, key: "2026-11-23", settled: "1000000" },
      { ...other, key: "2026-11-24", settled: "500000" }
    ]
    const { keys, series } = seriesOf(sums, "day")
    assert.deepStrictEqual(keys, ["2026-11-23", "2026-11-24"])
    assert.deepStrictEqual(
      series.map(({ values }) => values),
      [
        [1, 2],
        [null, 0.5]
      ]
    )
  })

  it("keep the order of models, the largest first, and name what has none", () => {
    const sums = [
      { ...token, key: "demo/echo", settled: "2" },
      { ...token, key: null, settled: "1" }
    ]
    assert.deepStrictEqual(seriesOf(sums, "model").keys, ["demo/echo", "none"])
  })
})
