import { assert, describe, it } from "@effect/vitest"
import { retryDelayMs } from "../../../services/payment-settler/settlements.ts"

describe("the wait before a payment is looked up again", () => {
  it.each([
    ["is a quarter of a second at first", 0, 250],
    ["is half of how long it has been asked for", 10_000, 5_000],
    ["is never longer than half a minute", 3_600_000, 30_000],
    ["is not negative when clocks differ", -5_000, 250]
  ])("%s", (_what, agoMs, wanted) => assert.strictEqual(retryDelayMs(1_000_000, 1_000_000 + agoMs), wanted))
})
