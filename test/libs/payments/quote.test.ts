import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  atomicAmount,
  chargedInputTokens,
  decimalAmount,
  flatPrice,
  inputTokensOf,
  microUsdOf,
  offerOf,
  outputTokensHeaders,
  outputTokensOf,
  tariffOf,
  tokenPrice
} from "#payments"
import { testNetwork } from "../../support/payments.ts"

const tariff = tariffOf({ FlatFeeUsd: 0.001, PriceMinUsd: 0.001, OutputShare: 0.1 })
const prices = { inputMicroUsdPerMillionTokens: 3_000_000, outputMicroUsdPerMillionTokens: 15_000_000 }
const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

describe("a price by tokens", () => {
  it.each([
    // 64 tokens at 3 $ per million are 192 millionths, a tenth of 8,192 at 15 $ are 12,288.
    [64, 8_192, 12_480n + 1_000n],
    [64, 1, 1_000n + 1_000n],
    [1_000_000, 8_192, 3_000_000n + 12_288n + 1_000n],
    // 0.1 of one token is 1.5 millionths, which go up: 333,334 tokens are 1,000,002.
    [333_334, 1, 1_000_004n + 1_000n]
  ])("of %i in and at most %i out is %s millionths of a dollar", (inputTokens, outputTokens, expected) => {
    assert.strictEqual(tokenPrice(tariff, prices, { inputTokens, outputTokens }), expected)
  })

  const Use = [whole(0, 2_000_000), whole(1, 200_000), whole(0, 10 ** 9), whole(0, 10 ** 9)] as const
  it.prop(
    "never falls when prompt, answer or rate grow, and is never below the minimum and the fee",
    [...Use, whole(0, 1_000)],
    ([input, output, inRate, outRate, more]) => {
      const price = (i: number, o: number, ir: number, or: number) =>
        tokenPrice(
          tariff,
          { inputMicroUsdPerMillionTokens: ir, outputMicroUsdPerMillionTokens: or },
          { inputTokens: chargedInputTokens(i), outputTokens: o }
        )
      const least = price(input, output, inRate, outRate)
      assert.isTrue(least >= 2_000n)
      assert.isTrue(price(input + more, output, inRate, outRate) >= least)
      assert.isTrue(price(input, output + more, inRate, outRate) >= least)
      assert.isTrue(price(input, output, inRate + more, outRate) >= least)
      assert.isTrue(price(input, output, inRate, outRate + more) >= least)
    }
  )

  it.prop(
    "is signed exactly as shown, in any asset's smallest unit, and never lower",
    [whole(0, 2_000_000), whole(1, 200_000), whole(0, 18)],
    ([input, output, decimals]) => {
      const micro = tokenPrice(tariff, prices, { inputTokens: chargedInputTokens(input), outputTokens: output })
      const offer = offerOf({ ...testNetwork, AssetDecimals: decimals }, micro, { maxTimeoutSeconds: 600 })
      const [units = "", fraction = ""] = offer.priceUsd.split(".")
      assert.strictEqual(fraction.length, decimals)
      assert.strictEqual(BigInt(`${units}${fraction}`).toString(), offer.requirements.amount)
      const shown = BigInt(`${units}${fraction.padEnd(18, "0")}`)
      const unit = 10n ** BigInt(18 - decimals)
      assert.isTrue(shown >= micro * 10n ** 12n && shown < micro * 10n ** 12n + unit)
    }
  )
})

describe("a flat price", () => {
  it("counts each image, and has the same minimum and fee", () => {
    assert.strictEqual(flatPrice(tariff, 40_000), 41_000n)
    assert.strictEqual(flatPrice(tariff, 40_000, 3), 121_000n)
    assert.strictEqual(flatPrice(tariff, 0), 2_000n)
  })
})

describe("the tokens of a prompt", () => {
  it("are estimated from bytes and images", () => {
    assert.strictEqual(inputTokensOf({ textBytes: 0, images: 0 }), 0)
    assert.strictEqual(inputTokensOf({ textBytes: 41, images: 0 }), 11)
    assert.strictEqual(inputTokensOf({ textBytes: 4, images: 2 }), 2_049)
  })

  it.prop(
    "are charged in steps: never fewer, at most a sixteenth more, never fewer for more",
    [whole(0, 10_000_000), whole(0, 64)],
    ([tokens, more]) => {
      const charged = chargedInputTokens(tokens)
      assert.isTrue(charged >= tokens)
      assert.isTrue(charged <= Math.max(64, tokens + tokens / 16))
      assert.isTrue(chargedInputTokens(tokens + more) >= charged)
      assert.strictEqual(chargedInputTokens(charged), charged)
    }
  )

  it("cost the same after a small change", () => {
    const steps = new Set(Array.from({ length: 1_000 }, (_, index) => chargedInputTokens(1_000 + index)))
    assert.isAtMost(steps.size, 18)
  })
})

describe("the tokens of an answer", () => {
  it.each([
    [null, 4_096, { requested: null, effective: 4_096, isCapped: false }],
    [null, 100_000, { requested: null, effective: 8_192, isCapped: false }],
    [100, 4_096, { requested: 100, effective: 100, isCapped: false }],
    [4_096, 4_096, { requested: 4_096, effective: 4_096, isCapped: false }],
    [5_000, 4_096, { requested: 5_000, effective: 4_096, isCapped: true }]
  ])("asked for %s of a model with %i are %o", (requested, modelMax, expected) => {
    assert.deepStrictEqual(outputTokensOf(requested, modelMax), expected)
  })

  it("are reported as capped when the request names too many", () => {
    assert.deepStrictEqual(outputTokensHeaders(outputTokensOf(10, 20)), {})
    assert.deepStrictEqual(outputTokensHeaders(outputTokensOf(30, 20)), {
      "x-max-tokens-capped": "true",
      "x-max-tokens-requested": "30",
      "x-max-tokens-effective": "20"
    })
  })
})

describe("money", () => {
  it("is read from dollars to the millionth, rounded up", () => {
    assert.strictEqual(microUsdOf(0.001), 1_000n)
    assert.strictEqual(microUsdOf(0.1 + 0.2), 300_000n)
    assert.strictEqual(microUsdOf(0.0000001), 1n)
    assert.strictEqual(microUsdOf(0), 0n)
  })

  it("is written with all digits of its asset", () => {
    assert.strictEqual(decimalAmount(25_685n, 6), "0.025685")
    assert.strictEqual(decimalAmount(1_025_000n, 6), "1.025000")
    assert.strictEqual(decimalAmount(7n, 0), "7")
    assert.strictEqual(atomicAmount(25_685n, 2), 3n)
    assert.strictEqual(atomicAmount(25_685n, 8), 2_568_500n)
  })
})

describe("an offer", () => {
  it("carries all that its clients need to sign", () => {
    const { requirements, plainNetwork } = offerOf(testNetwork, 25_685n, { maxTimeoutSeconds: 600 })
    assert.deepStrictEqual(requirements.extra, { name: "USDC", version: "2" })
    assert.deepInclude(requirements, { scheme: "exact", amount: "25685", maxTimeoutSeconds: 600 })
    assert.strictEqual(plainNetwork, "base-sepolia")
    const solana = {
      ...testNetwork,
      Network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      FeePayer: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
    }
    assert.deepStrictEqual(offerOf(solana, 2_000n, { maxTimeoutSeconds: 600 }).requirements.extra, {
      feePayer: solana.FeePayer
    })
  })
})
