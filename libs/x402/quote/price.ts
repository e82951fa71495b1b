/**
 * What a call costs, known before it is made: the guessed input, a share of the longest answer that is asked for, at
 * least a minimum, and a flat fee. What is quoted is what is paid; nothing is refunded and nothing added
 * afterwards. Integers throughout, rounded up once at the end. Pure.
 */
import { divideUp, microUsdOf } from "./money.ts"

/** What is true of every price; `outputShareMillionths` of the longest answer is charged. */
export interface Tariff {
  readonly flatFeeMicroUsd: bigint
  readonly priceMinMicroUsd: bigint
  readonly outputShareMillionths: bigint
}

/** The shares and dollars of the configuration's `Payments`. */
export const tariffOf = (section: {
  readonly FlatFeeUsd: number
  readonly PriceMinUsd: number
  readonly OutputShare: number
}): Tariff => ({
  flatFeeMicroUsd: microUsdOf(section.FlatFeeUsd),
  priceMinMicroUsd: microUsdOf(section.PriceMinUsd),
  outputShareMillionths: BigInt(Math.round(section.OutputShare * 1e6))
})

/** Millionths of a dollar for a million tokens; whole numbers. */
export interface TokenPrices {
  readonly inputMicroUsdPerMillionTokens: number
  readonly outputMicroUsdPerMillionTokens: number
}

export interface TokenUse {
  /** As `chargedInputTokens` gives them. */
  readonly inputTokens: number
  /** The longest answer. */
  readonly outputTokens: number
}

const million = 1_000_000n

/** The price of a call by tokens, in millionths of a dollar. */
export const tokenPrice = (tariff: Tariff, prices: TokenPrices, use: TokenUse): bigint => {
  const input = BigInt(use.inputTokens) * BigInt(prices.inputMicroUsdPerMillionTokens) * million
  const output = BigInt(use.outputTokens) * BigInt(prices.outputMicroUsdPerMillionTokens) * tariff.outputShareMillionths
  return withFee(tariff, divideUp(input + output, million * million))
}

/** The price of a call that costs the same whatever is said: `count` images, or one call. */
export const flatPrice = (tariff: Tariff, microUsdEach: number, count = 1): bigint =>
  withFee(tariff, BigInt(microUsdEach) * BigInt(count))

const withFee = (tariff: Tariff, microUsd: bigint) =>
  (microUsd > tariff.priceMinMicroUsd ? microUsd : tariff.priceMinMicroUsd) + tariff.flatFeeMicroUsd
