/** Ranges: two values with a dash between them, within a word or between two. Pure. */
import type { Kind, Language, Reader } from "../language.ts"
import { digitByDigit, readNumber } from "../number.ts"
import { following, said, type Word, wordAt, type Place } from "../word.ts"
import { isUncertain, unitNamed } from "./unit.ts"

const range = /^([+−-]?[^\s–—−-]{1,24})[–—-]([^\s–—-][^\s–—]{0,24})$/u
const dashes = /^[–—-]$/u

export const sayRange = (core: string, language: Language, place: Place, say: Reader): string | undefined => {
  const groups = sayGroups(core, language)
  if (groups !== undefined) return groups
  const [, from, to] = range.exec(core) ?? []
  if (from === undefined || to === undefined || !/\d/u.test(from) || !/\d/u.test(to)) return undefined
  if (!isValue(from) || !isValue(to)) return undefined
  // "Nr. 2024-0815"
  if (/^\d+$/u.test(from) && /^0\d+$/u.test(to)) return `${language.cardinal(from)}, ${digitByDigit(to, language)}`
  if (isYear(from) && (isYear(to) || /^\d{2}$/u.test(to))) {
    return `${language.year(from)} ${language.words.to} ${isYear(to) ? language.year(to) : language.cardinal(String(Number(to)))}`
  }
  // "8.30-17.00"
  const isTimes = language.isBeforeTime !== undefined && [from, to].every((text) => /^\d{1,2}\.[0-5]\d$/u.test(text))
  if (isTimes) return sayRange(core.replaceAll(".", ":"), language, place, say)
  const [left, right] = [say(from, language, place), say(to, language, place)]
  if (left === undefined || right === undefined) return undefined
  const shared = sharedCurrency(from, to, language, place, say)
  return shared ?? `${left} ${language.words.to} ${right}`
}

/** "978-0-306-40615-7", "111-11-1111": rows of digits; "10-3-1" counts. */
const sayGroups = (core: string, language: Language) => {
  // Nobody counts from 88 to 20413.
  if (!/^\d{1,8}(?:-\d{1,8}){2,6}$|^\d{1,3}-\d{5,8}$/u.test(core)) return undefined
  const groups = core.split("-")
  if (groups.every((group) => group.length < 3)) return groups.map((group) => language.cardinal(group)).join(" ")
  return groups.map((group) => digitByDigit(group, language)).join(", ")
}

/** A number, a time, money or a measure; no code of letters and digits. */
const isValue = (text: string) =>
  /^\d{1,2}h\d{2}$/u.test(text) || /^[^\p{L}]{0,3}\d[\d.,:/]*(?:[°%€£¢$]|[ap]m|\p{L}{1,4})?[\p{L}]{0,2}$/iu.test(text)

export const isYear = (digits: string): boolean => /^(?:1[1-9]|20)\d{2}$/u.test(digits)

/** "$5–10" is "five to ten dollars". */
const sharedCurrency = (from: string, to: string, language: Language, place: Place, say: Reader) => {
  const [, sign = ""] = /^([$€£¥₹])\d/u.exec(from) ?? []
  const low = readNumber(from.slice(sign.length), language)
  if (sign === "" || low === undefined || !/^\d/u.test(to)) return undefined
  const [first, last] = [say(from.slice(sign.length), language, place), say(`${sign}${to}`, language, place)]
  return first === undefined || last === undefined ? undefined : `${first} ${language.words.to} ${last}`
}

/** "10 – 12", and "40–60 °C" with the unit apart. */
export const rangeInWords: Kind = (place, language) => {
  const [word, next, third] = [wordAt(place), following(place), following(place, 2)]
  if (word === undefined || next === undefined) return undefined
  // "3 x $12.99", "2 x 1TB": nothing has sides so long.
  const isPacks =
    /^\d{1,4}$/u.test(wordAt(place, -1)?.core ?? "") &&
    /^(?:[$€£¥]\d|\d[\d.,]*(?:[kMGT]i?B|m?[lLgW]|kg|oz|V)$)/u.test(next.core)
  if (/^[x×]$/u.test(word.core) && isPacks) return said(language.operators["×"] ?? "")
  if (/^[x×]$/u.test(word.core) && /\d$/u.test(wordAt(place, -1)?.core ?? "") && /^\d/u.test(next.core))
    return said(isProduct(place, next) ? (language.operators["×"] ?? "") : language.words.by)
  // "1 x Large": one of it.
  if (/^[x×]$/u.test(word.core) && /^\d{1,3}$/u.test(wordAt(place, -1)?.core ?? "") && /^\p{Lu}\p{Ll}/u.test(next.core))
    return said("")
  if (dashes.test(word.core) && isBetweenTimes(place)) return said(language.words.to)
  if (dashes.test(next.core) && third !== undefined && isPlainNumber(word.core) && isPlainNumber(third.core)) {
    const [left, right] = [word.core, third.core].map((core) => numberOrYear(core, language))
    return left === undefined || right === undefined ? undefined : said(left, language.words.to, right)
  }
  const [, from, to] = /^([+−-]?[\d.,]{1,12})[–—-]([\d.,]{1,12})$/u.exec(word.core) ?? []
  if (from === undefined || to === undefined) return undefined
  const noun = unitNamed(next.core, language)
  const [left, right] = [numberAlone(from, language), numberAlone(to, language)]
  if (noun === undefined || left === undefined || right === undefined || isUncertain(next, place, language))
    return undefined
  return said(`${left} ${language.words.to} ${right}`, noun.many)
}

const isBetweenTimes = (place: Place) =>
  /^(?:[ap]\.?m|\d{1,2}:\d{2}(?:[ap]m)?|\d{1,2}[ap]m)$/iu.test(wordAt(place, -1)?.core ?? "") &&
  /^\d{1,2}(?::\d{2})?(?:[ap]m)?$/iu.test(wordAt(place, 1)?.core ?? "")

/** "3 × 4 + 5" and "3 × 10⁸" are sums, "3 × 4 m" are sides. */
const isProduct = (place: Place, next: Word) =>
  /^10[\^⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/u.test(next.core) ||
  [wordAt(place, -2)?.core, wordAt(place, 2)?.core].some((core) => /^[+−=÷-]$/u.test(core ?? ""))

const isPlainNumber = (core: string) => /^\d[\d.,]{0,12}$/u.test(core)

const numberOrYear = (core: string, language: Language) =>
  isYear(core) ? language.year(core) : numberAlone(core, language)

const numberAlone = (core: string, language: Language) => {
  const number = readNumber(core, language)
  if (number === undefined) return undefined
  const sign = number.sign === "-" ? `${language.words.minus} ` : ""
  const fraction = number.fraction === "" ? "" : ` ${language.point} ${language.sayFraction(number.fraction)}`
  return `${sign}${language.cardinal(number.whole)}${fraction}`
}
