/** What Spanish, French, Italian and Portuguese have in common: kinds, dates, powers, and numbers that count millions. */
import { dayAndMonth } from "../kinds/date.ts"
import { rowOfDigits, withDigits } from "../kinds/digits.ts"
import { initialism } from "../kinds/initialism.ts"
import { shortMonth } from "../kinds/month.ts"
import { romanNumeral, type RomanNumerals } from "../kinds/roman.ts"
import { dottedTime, spacedTime } from "../kinds/time.ts"
import { weekday } from "../kinds/weekday.ts"
import type { DateParts, Kind, Language } from "../language.ts"

interface Tables {
  /** Those that are cut off. */
  readonly months: string
  readonly weekdays: string
  readonly roman: RomanNumerals
  /** What a row of digits stands behind. */
  readonly codes: RegExp
  readonly abbreviations: Kind
  /** Spelled though they have vowels. */
  readonly initialisms: string
}

/** The marks of numbers, and the kinds by the tables of a language. */
export const romance = ({ abbreviations, codes, initialisms, months, roman, weekdays }: Tables) =>
  ({
    decimalMark: ",",
    groupSpace: /[\u00a0\u2009\u202f]/u,
    isMonthFirst: false,
    kinds: [
      withDigits(dayAndMonth, spacedTime, dottedTime, rowOfDigits(codes)),
      shortMonth(months),
      romanNumeral(roman),
      weekday(weekdays),
      abbreviations
    ],
    lateKinds: [initialism(initialisms)]
  }) as const satisfies Partial<Language>

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
