/**
 * Dollars, millionths of a dollar and an asset's smallest unit. One token of a taken asset is one dollar.
 * Amounts are integers; where a unit is too coarse the amount goes up, never down. Pure.
 */

const microDecimals = 6

/** Dollars of the configuration as millionths, up. */
export const microUsdOf = (usd: number): bigint => BigInt(Math.ceil(Number((usd * 1e6).toFixed(3))))

/** Millionths of a dollar in the asset's smallest unit, up. */
export const atomicAmount = (microUsd: bigint, assetDecimals: number): bigint => {
  if (assetDecimals >= microDecimals) return microUsd * 10n ** BigInt(assetDecimals - microDecimals)
  return divideUp(microUsd, 10n ** BigInt(microDecimals - assetDecimals))
}

/** An amount of the smallest unit as a decimal number of whole tokens: `0.025685`. */
export const decimalAmount = (atomic: bigint, assetDecimals: number): string => {
  const digits = atomic.toString().padStart(assetDecimals + 1, "0")
  const whole = digits.slice(0, digits.length - assetDecimals)
  return assetDecimals === 0 ? whole : `${whole}.${digits.slice(-assetDecimals)}`
}

/** Of numbers that are not negative. */
export const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor
