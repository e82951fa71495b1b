/** English dates with the month as a word: "May 10, 2024", "10 May", "the 4th of July". Pure. */
import type { Kind, Language } from "../language.ts"
import { mayEndSentence, type Place, previousCore, said, type Said, wordAt, type Word } from "../word.ts"
import { isYear } from "../kinds/range.ts"

const names = "january february march april may june july august september october november december".split(" ")
const shortened = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ")
const days = "monday tuesday wednesday thursday friday saturday sunday".split(" ")

/** 1 is January; undefined if it is no month. A month is capitalised. */
export const monthNumber = (core: string): number | undefined => {
  const lower = core.toLowerCase()
  const found = names.indexOf(lower)
  if (found !== -1) return found + 1
  const short = lower === "sept" ? 8 : shortened.indexOf(lower)
  return short === -1 ? undefined : short + 1
}

export const isMonth = (core: string): boolean => monthNumber(core) !== undefined

const day = /^(\d{1,2})(?:st|nd|rd|th)?(?:['’]s)?$/u

const shortDays = /^(?:Mon|Tues?|Wed|Thur?s?|Fri|Sat|Sun)$/u

const dayName = (core: string) => {
  const name = days.find((candidate) => candidate.startsWith(core.toLowerCase().slice(0, 3))) ?? core
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** "Mon–Fri", "Mon.-Fri.", "Jan-Mar 2024", "Jan-15-2020". */
const withinWord = (place: Place, word: Word, language: Language): Said | undefined => {
  if (!/[–-]/u.test(word.core)) return undefined
  const [, from, to] =
    /^((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\p{Ll}{0,6})\.?[–-]((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\p{Ll}{0,6})$/u.exec(
      word.core
    ) ?? []
  if (from !== undefined && to !== undefined)
    return { parts: [`${dayName(from)} to ${dayName(to)}`], takesStop: !mayEndSentence(place) }
  const [begin, end, ...more] = word.core.split(/\.?[–-]/u).map(monthNumber)
  if (begin !== undefined && end !== undefined && more.length === 0) {
    const months = `${fullName(begin, language)} to ${fullName(end, language)}`
    const of = yearBehind(place, 1, word)
    return of === undefined ? { parts: [months], takesStop: !mayEndSentence(place) } : said(months, language.year(of))
  }
  if (/^M[–-]F$/u.test(word.core)) return said("Monday to Friday")
  const [, left = "", middle = "", year = ""] =
    /^(\p{L}{3,9}|\d{1,2})-(\p{L}{3,9}|\d{1,2})-(\d{4})$/u.exec(word.core) ?? []
  const [month, date] = [monthNumber(left) ?? monthNumber(middle), /\d/u.test(left) ? left : middle]
  return month === undefined || !/^\d/u.test(date) ? undefined : said(language.date({ day: Number(date), month, year }))
}

const dayOf = (word: Word | undefined): string | undefined => {
  const [, digits] = day.exec(word?.core ?? "") ?? []
  return digits === undefined || Number(digits) < 1 || Number(digits) > 31 ? undefined : String(Number(digits))
}

export const calendar: Kind = (place, language) => {
  const word = wordAt(place)
  if (word === undefined || word.core.length > 17) return undefined
  return (
    withinWord(place, word, language) ??
    monthFirst(place, word, language) ??
    dayFirst(place, word, language) ??
    weekday(place, word) ??
    monthAlone(place, word, language)
  )
}

const fullName = (number: number, language: Language) => language.months[number - 1] ?? ""

/** "May 10": unless what follows counts by it, as in "May 10 people attend?" */
const monthFirst = (place: Place, word: Word, language: Language): Said | undefined => {
  const month = /^\p{Lu}/u.test(word.core) ? monthNumber(word.core) : undefined
  const next = wordAt(place, 1)
  const date = dayOf(next)
  if (month === undefined || next === undefined || word.trail !== "" || next.lead !== "") return undefined
  if (date === undefined) return rangeOfDays(month, next, language)
  if (isVerb(place, word, next)) return undefined
  const name = fullName(month, language)
  const year = yearBehind(place, 2, next)
  const spokenDay = `${language.ordinal(date)}${/['’]s$/u.test(next.core) ? "'s" : ""}`
  return year === undefined ? said(name, spokenDay) : said(name, spokenDay, language.year(year))
}

/** "Oct 3-5" */
const rangeOfDays = (month: number, next: Word, language: Language): Said | undefined => {
  const [, from, to] = /^(\d{1,2})[–-](\d{1,2})$/u.exec(next.core) ?? []
  if (from === undefined || to === undefined || Number(to) > 31 || Number(from) < 1) return undefined
  return said(fullName(month, language), `${language.ordinal(from)} to ${language.ordinal(to)}`)
}

/** "May" and "March" are verbs too: at a sentence's start, before a number and a word that it counts. */
const isVerb = (place: Place, word: Word, next: Word) => {
  if (!/^(?:May|March)$/u.test(word.core) || /\D/u.test(next.core)) return false
  const after = wordAt(place, 2)
  const counts = next.trail === "" && next.stop === "" && after !== undefined && /^\p{Ll}{3,}/u.test(after.core)
  const verbs = new Set(
    "and the was were will from until through for with when that who which after before this because".split(" ")
  )
  const isStart = place.at === 0 || /[.!?:]/u.test((wordAt(place, -1)?.stop ?? "") + (wordAt(place, -1)?.trail ?? ""))
  return counts && isStart && !verbs.has(after.core)
}

const yearBehind = (place: Place, offset: number, before: Word): string | undefined => {
  const word = wordAt(place, offset)
  // "31 Dec. 2023"
  const isStopped = before.stop !== "" && !(isMonth(before.core) && before.core.length < 5)
  if (word === undefined || word.lead !== "" || isStopped || !/^,?$/u.test(before.trail)) return undefined
  return isYear(word.core) ? word.core : undefined
}

/** "10 May 2024", "4th of July". */
const dayFirst = (place: Place, word: Word, language: Language): Said | undefined => {
  const date = dayOf(word)
  const next = wordAt(place, 1)
  if (date === undefined || next === undefined || word.trail !== "" || word.stop !== "") return undefined
  const month = /^\p{Lu}/u.test(next.core) ? monthNumber(next.core) : undefined
  if (month === undefined) return undefined
  const hasArticle = previousCore(place).toLowerCase() === "the"
  const ordinal = language.ordinal(date)
  const spokenDay = hasArticle ? `${ordinal} of` : `the ${ordinal} of`
  const year = yearBehind(place, 2, next)
  const name = fullName(month, language)
  return year === undefined ? said(spokenDay, name) : said(spokenDay, name, language.year(year))
}

/** "Mon." is Monday before a date, and "Sun" alone is the sun. */
const weekday = (place: Place, word: Word): Said | undefined => {
  if (!shortDays.test(word.core)) return undefined
  const next = wordAt(place, 1)
  const isDated = next !== undefined && (isMonth(next.core) || /^\d/u.test(next.core))
  if (word.stop === "" && !isDated) return undefined
  return { parts: [dayName(word.core)], takesStop: word.stop === "." && !mayEndSentence(place) }
}

/** "Jan. was cold", "Sept 2024". */
const monthAlone = (place: Place, word: Word, language: Language): Said | undefined => {
  const month = /^\p{Lu}\p{Ll}{2,3}$/u.test(word.core) ? monthNumber(word.core) : undefined
  if (month === undefined || word.core === "May") return undefined
  const next = wordAt(place, 1)
  const isDated = word.stop === "." || (next !== undefined && isYear(next.core))
  if (!isDated || names.includes(word.core.toLowerCase())) return undefined
  const isLast = word.stop === "." && next === undefined
  return { parts: [fullName(month, language)], takesStop: word.stop === "." && !isLast }
}
