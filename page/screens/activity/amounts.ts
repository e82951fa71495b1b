/** Amounts of tokens as people read them, and sums as a plot wants them. */
import { shortened } from "../../design/shortened.ts"

export interface Amount {
  readonly amount: string
  readonly decimals: number | null
  readonly symbol: string | null
}

/** `0.025685 USDC`; the smallest unit where its decimals are not known. */
export const amountText = ({ amount, decimals, symbol }: Amount): string => {
  if (decimals === null) return `${amount} units`
  const digits = amount.padStart(decimals + 1, "0")
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals)
  const part = decimals === 0 ? "" : digits.slice(-decimals).replace(/(?<!0)0+$/u, "")
  return `${whole}${part === "" ? "" : `.${part}`} ${symbol ?? ""}`.trimEnd()
}

const decimalsShownMax = 6

/** `999,999.999871`: enough to see whether it lasts. */
export const roundedText = (amount: Amount): string => {
  if (amount.decimals === null) return amountText(amount)
  return new Intl.NumberFormat("en", { maximumFractionDigits: decimalsShownMax }).format(wholeTokens(amount))
}

/** Whole tokens as a number, for a plot alone. */
export const wholeTokens = ({ amount, decimals }: Pick<Amount, "amount" | "decimals">): number =>
  Number(amount) / 10 ** (decimals ?? 0)

interface Sum extends Omit<Amount, "amount"> {
  readonly key: string | null
  readonly network: string
  readonly asset: string
  readonly settled: string
}

export interface Series {
  readonly label: string
  /** One for each of the keys; null where nothing was paid. */
  readonly values: ReadonlyArray<number | null>
}

/** One series for each token over the same keys, the keys in their order: days go forward. */
export const seriesOf = (sums: ReadonlyArray<Sum>, by: "day" | "model" | "payer") => {
  const seen = [...new Set(sums.map(({ key }) => key ?? "none"))]
  const keys = by === "day" ? seen.toSorted() : seen
  const tokens = new Map(sums.map((sum) => [`${sum.network} ${sum.asset}`, sum]))
  const series: ReadonlyArray<Series> = [...tokens].map(([token, { symbol, network, asset }]) => ({
    label: `${symbol ?? shortened(asset)} on ${network}`,
    values: keys.map((key) => {
      const found = sums.find((sum) => (sum.key ?? "none") === key && `${sum.network} ${sum.asset}` === token)
      return found === undefined ? null : wholeTokens({ amount: found.settled, decimals: found.decimals })
    })
  }))
  return { keys, series }
}
