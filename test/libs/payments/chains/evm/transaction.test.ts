import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { EvmNode } from "../../../../../libs/payments/chains/evm/EvmNode.ts"
import { FeeSource, feesFor, transfersLeft } from "../../../../../libs/payments/chains/evm/transaction.ts"

describe("the fees of a chain", () => {
  it.effect("are asked for again after two seconds, so that a base fee that doubles is seen", () =>
    Effect.gen(function* () {
      let baseFeeWei = 100n
      let asked = 0
      const node = {
        block: () => Effect.sync(() => ((asked += 1), { baseFeeWei })),
        tipWei: Effect.succeed(10n)
      } as unknown as EvmNode
      const source = new FeeSource(node, 10_000n)
      assert.strictEqual((yield* source.current()).feeMaxWei, 210n)
      baseFeeWei = 200n
      yield* TestClock.adjust("1999 millis")
      assert.strictEqual((yield* source.current()).feeMaxWei, 210n)
      assert.strictEqual(asked, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* source.current()).feeMaxWei, 410n)
    })
  )

  it.effect("are not remembered while the chain asks for more than the cap", () =>
    Effect.gen(function* () {
      let baseFeeWei = 1_000n
      const node = {
        block: () => Effect.sync(() => ({ baseFeeWei })),
        tipWei: Effect.succeed(10n)
      } as unknown as EvmNode
      const source = new FeeSource(node, 1_000n)
      assert.strictEqual((yield* Effect.flip(source.current()))._tag, "ChainUnavailable")
      baseFeeWei = 100n
      assert.strictEqual((yield* source.current()).feeMaxWei, 210n)
    })
  )
})

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

describe("the transfers that a key can still pay for", () => {
  const nodeAt = (baseFeeWei: bigint) =>
    ({
      block: () => Effect.succeed({ baseFeeWei }),
      tipWei: Effect.succeed(0n),
      balance: () => Effect.succeed(10n ** 18n)
    }) as unknown as EvmNode

  it.effect("are none while the chain asks for more than the cap", () =>
    Effect.gen(function* () {
      const left = (baseFeeWei: bigint) => {
        const node = nodeAt(baseFeeWei)
        return transfersLeft({ node, fees: new FeeSource(node, 1_000n) }, "0xa")
      }
      assert.isTrue((yield* left(1_000n)) > 0n)
      assert.strictEqual(yield* left(1_001n), 0n)
    })
  )
})
