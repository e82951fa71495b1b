import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Metrics } from "#runtime"
import {
  costCounter,
  costMicroUsd,
  hasCost,
  type UpstreamCost
} from "../../../../services/model-gateway/models/ModelRegistry.ts"

const none: UpstreamCost = {
  inputPerMillion: undefined,
  cachedPerMillion: undefined,
  outputPerMillion: undefined,
  flat: undefined
}
// 3 $ and 15 $ for a million, 0.30 $ for a million from the cache.
const byTokens = { ...none, inputPerMillion: 3_000_000, cachedPerMillion: 300_000, outputPerMillion: 15_000_000 }
const usage = (inputTokens: number, cachedTokens: number, outputTokens: number) => ({
  inputTokens,
  cachedTokens,
  outputTokens
})

describe("what a provider takes for an answer", () => {
  it.each([
    ["is not known without a cost", none, usage(1_000, 0, 1_000), 1, null],
    ["is for what was asked and answered", byTokens, usage(1_000, 0, 2_000), 1, 33_000n],
    ["is its own price for cached tokens", byTokens, usage(1_000, 400, 0), 1, 1_920n],
    ["is for no more cached tokens than were asked", byTokens, usage(100, 1_000, 0), 1, 30n],
    ["is flat for each image", { ...none, flat: 40_000 }, undefined, 3, 120_000n],
    ["is a flat part and one by tokens", { ...byTokens, flat: 7 }, usage(1, 0, 1), 1, 25n],
    ["is nothing where the configuration says so", { ...none, inputPerMillion: 0 }, usage(9, 9, 9), 1, 0n],
    ["is rounded up once, as a price is", { ...none, inputPerMillion: 1, outputPerMillion: 1 }, usage(1, 0, 1), 1, 1n],
    ["is not known by tokens that nobody counted", byTokens, undefined, 1, null],
    ["is nothing for counts below nothing", byTokens, usage(-5, -5, -5), 1, 0n]
  ] as const)("%s", (_, cost, tokens, count, micro) => {
    assert.strictEqual(costMicroUsd(cost, { tokens, count }), micro)
  })

  it("fits an amount, whatever a provider says it has counted", () => {
    const most = { inputPerMillion: 1e12, cachedPerMillion: 1e12, outputPerMillion: 1e12, flat: 1e12 }
    const cost = costMicroUsd(most, { tokens: usage(1e300, 0, 1e300), count: 10 })
    assert.isBelow(String(cost).length, 40)
  })

  it("is known to be configured by any part of it", () => {
    assert.deepStrictEqual([none, byTokens, { ...none, flat: 0 }].map(hasCost), [false, true, true])
  })

  it.effect("is counted as the receipt has it, and not at all where it is not known", () =>
    Effect.gen(function* () {
      const count = yield* costCounter
      const of = (model: string, cost: UpstreamCost) => ({ model, provider: "plain", cost })
      assert.strictEqual(count(of("demo/echo", byTokens), { tokens: usage(1, 0, 1), count: 1 }), 18n)
      assert.strictEqual(count(of("demo/echo", byTokens), { tokens: undefined, count: 1 }), null)
      assert.strictEqual(count(of("demo/other", none), { tokens: usage(1, 0, 1), count: 1 }), null)
      const text = yield* (yield* Metrics).text
      const series = text.split("\n").filter((line) => line.startsWith("gateway_provider_cost_usd_total{"))
      assert.lengthOf(series, 1)
      assert.match(series[0] ?? "", /model="demo\/echo".* 0\.000018$/u)
    }).pipe(Effect.provide(Metrics.layerTest))
  )
})
