import { assert, describe, it } from "@effect/vitest"
import { amountText } from "../../../../services/cli/operate/amounts.ts"

describe("an amount in a terminal", () => {
  it.each([
    [{ amount: "25685", decimals: 6, symbol: "USDC" }, "0.025685 USDC"],
    [{ amount: "9007199254740993", decimals: 6, symbol: "USDC" }, "9007199254.740993 USDC"],
    [{ amount: "7", decimals: 0, symbol: "CHIP" }, "7 CHIP"],
    [{ amount: "1000000000000000000", decimals: 18, symbol: null }, "1.000000000000000000"],
    [{ amount: "7", decimals: null, symbol: null }, "7 units"]
  ])("%j is %s", (amount, text) => {
    assert.strictEqual(amountText(amount), text)
  })
})
