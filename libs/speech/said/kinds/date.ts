/** Dates in digits, with the time of day where it is written behind. Pure. */
import type { Kind, Language, Reader } from "../language.ts"
import { type Place, previousCore, said, wordAt } from "../word.ts"
import { isMultiplied } from "./fraction.ts"
import { readTime } from "./time.ts"

const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/u
const numeric = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})$/u
const stamp = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2})?)(?:\.\d{1,9})?(Z?)$/u

export const sayDate: Reader = (core, language, place) => {
  const [, day, clock = "", zone] = stamp.exec(core) ?? []
  if (day !== undefined) return sayStamp(day, clock, zone === "Z", language, place)
  const [, year, month, dayOfMonth] = iso.exec(core) ?? []
  if (year !== undefined) return existing({ year, month: Number(month), day: Number(dayOfMonth) }, language, place)
  const [, first = "", mark, second = "", yearBehind] = numeric.exec(core) ?? []
  if (yearBehind === undefined) return undefined
  // "4.17.20" is a version where dates have slashes.
  if (mark === "." && language.decimalMark === "." && yearBehind.length === 2) return undefined
  const isMonthFirst = language.isMonthFirst && Number(first) <= 12
  const [monthOf, dayOf] = isMonthFirst || Number(second) > 12 ? [first, second] : [second, first]
  return existing({ year: inFull(yearBehind), month: Number(monthOf), day: Number(dayOf) }, language, place)
}

/** Of two digits, from the seventies of the last century on. */
export const inFull = (year: string): string => (year.length === 2 ? `${Number(year) < 70 ? "20" : "19"}${year}` : year)

const sayStamp = (day: string, clock: string, isUniversal: boolean, language: Language, place: Place) => {
  const [date, time] = [
    sayDate(day, language, place),
    readTime(
      clock.replace(/:00$/u, (end) => (clock.length > 5 ? "" : end)),
      language
    )
  ]
  return date === undefined || time === undefined ? undefined : `${date}, ${time}${isUniversal ? " U T C" : ""}`
}

const existing = (
  parts: { year: string | undefined; month: number; day: number },
  language: Language,
  place: Place
): string | undefined =>
  parts.month < 1 || parts.month > 12 || parts.day < 1 || parts.day > 31 ? undefined : language.date(parts, place)

/** "12/25" behind "on" or "by", in the order of the locale, and "12/25–12/28". */
export const dayAndMonth: Kind = (place, language) => {
  const core = wordAt(place)?.core ?? ""
  const [, from = "", to = ""] = /^(\d{1,2}\/\d{1,2})[–-](\d{1,2}\/\d{1,2})$/u.exec(core) ?? []
  const [first, last] = [from, to].map((day) => sayDay(day, language, place))
  if (first !== undefined && last !== undefined) return said(`${first} ${language.words.to} ${last}`)
  const [, month, year] = /^(0?[1-9]|1[0-2])\/(20\d\d)$/u.exec(core) ?? []
  if (month !== undefined && year !== undefined) return said(language.date({ month: Number(month), year }, place))
  const day = isDay(core, place, language) ? sayDay(core, language, place) : undefined
  return day === undefined ? undefined : said(day)
}

/** Nobody cuts into fifteenths, and a number with a zero before it is no part of a whole. */
const isDay = (core: string, place: Place, language: Language) => {
  const previous = previousCore(place)
  if (language.isBeforeDate.test(previous)) return !isMultiplied(place, language)
  const below = Number(/^(?!9\/11$)\d{1,2}\/(\d{1,2})$/u.exec(core)?.[1] ?? 0)
  const isPart = below <= 12 || [16, 20, 24, 32].includes(below)
  return (!isPart || /^0\d\/|\/0\d$/u.test(core)) && language.isRating?.test(previous) !== true
}

const sayDay = (written: string, language: Language, place: Place) => {
  const [, first, second] = /^(\d{1,2})\/(\d{1,2})$/u.exec(written) ?? []
  if (first === undefined || second === undefined) return undefined
  const [month, day] = language.isMonthFirst ? [Number(first), Number(second)] : [Number(second), Number(first)]
  return existing({ year: undefined, month, day }, language, place)
}
