/** Amounts of money as people read and write them: whole tokens with the token's name. Pure. */
import { decimalAmount } from "#payments"

interface Amount {
  readonly amount: string
  readonly decimals: number | null
  readonly symbol: string | null
}

/** An amount for people: whole tokens with the token's name, or the smallest unit if its decimals are unknown. */
export const amountText = ({ amount, decimals, symbol }: Amount) => {
  if (decimals === null) return `${amount} units`
  const sign = amount.startsWith("-") ? "-" : ""
  return `${sign}${decimalAmount(BigInt(amount.slice(sign.length)), decimals)} ${symbol ?? ""}`.trimEnd()
}

export const amountOrNone = ({ amount, ...token }: Omit<Amount, "amount"> & { readonly amount: string | null }) =>
  amount === null ? null : amountText({ ...token, amount })

/** For people amounts are whole tokens; for programs they are unchanged. */
export const readable = <Item extends Amount>(item: Item) => ({ ...item, amount: amountText(item) })

const decimalPattern = /^(\d{1,60})(?:\.(\d{1,18}))?$/u

/** Whole tokens in the smallest unit; null for an invalid amount. */
export const unitsOf = (amount: string, decimals: number | null): string | null => {
  const [, whole = "", part = ""] = decimalPattern.exec(amount.trim()) ?? []
  if (whole === "" || decimals === null || part.length > decimals) return null
  return BigInt(`${whole}${part.padEnd(decimals, "0")}`).toString()
}
