/** What Spanish, French, Italian and Portuguese have in common: dates, powers, and numbers that count millions. */
import type { DateParts, Language } from "../language.ts"

interface Dates {
  readonly cardinal: (digits: string) => string
  readonly months: ReadonlyArray<string>
  /** The first day of a month, where it is an ordinal. */
  readonly first?: string
  readonly joint: string
}

/** "Uno de mayo de dos mil nueve". */
export const dateWith =
  ({ cardinal, first, joint, months }: Dates) =>
  ({ day, month, year }: DateParts): string => {
    const spokenDay = day === 1 && first !== undefined ? first : day === undefined ? "" : cardinal(String(day))
    const name = month === undefined ? "" : (months[month - 1] ?? "")
    return [spokenDay, name, year === undefined ? "" : cardinal(year)].filter((part) => part !== "").join(joint)
  }

/** "Elevado a menos dos". */
export const powerWith =
  (raised: string, minus: string, cardinal: Language["cardinal"]) =>
  (exponent: string): string =>
    `${raised} ${exponent.startsWith("-") ? `${minus} ${cardinal(exponent.slice(1))}` : cardinal(exponent)}`

/** Hundreds have the gender of what they count, which for those before "millones" is the millions. */
export const changeAfter = (text: string, scales: RegExp, change: (rest: string) => string): string => {
  const last = Array.from(text.matchAll(scales)).at(-1)
  const from = last === undefined ? 0 : last.index + last[0].length
  return text.slice(0, from) + change(text.slice(from))
}
