import { assert, describe, it } from "@effect/vitest"
import { feesFor } from "../../../../../libs/x402/chains/evm/transaction.ts"

describe("the offered fee", () => {
  it.each([
    [100n, 10n, 1_000n, { feeMaxWei: 210n, tipWei: 10n }],
    [100n, 10n, 150n, { feeMaxWei: 150n, tipWei: 10n }],
    [100n, 10n, 110n, { feeMaxWei: 110n, tipWei: 10n }],
    [100n, 10n, 109n, undefined],
    [0n, 0n, 0n, { feeMaxWei: 0n, tipWei: 0n }]
  ])("is twice the base fee and the tip, within the cap: %s, %s, %s", (base, tip, cap, expected) => {
    assert.deepStrictEqual(feesFor(base, tip, cap), expected)
  })
})
