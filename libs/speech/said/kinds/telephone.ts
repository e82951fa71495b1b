/** Telephone numbers: rows of digits in the groups in which they are written. Pure. */
import type { Kind, Language } from "../language.ts"
import { digitByDigit } from "../number.ts"
import { type Place, type Said, wordAt, type Word } from "../word.ts"

const wordsMax = 8
/** Seven to fifteen digits (E.164) in groups, with the country's or the area's before them. */
const international = /^\+\d{1,3}(?:[ .-]?\(\d{1,4}\)\d{0,8})?(?:[ ./-]\d{1,8}){0,6}$/u
const together = /^\+\d{8,15}$/u
/** Areas of other countries begin with a zero; a card has groups of four. */
const grouped = /^0\d{1,4}(?: \d{3,4}){1,3}$|^0\d{4} \d{6}$|^\d{4}(?: \d{4}){2,4}(?: \d{1,3})?$/u

export const telephoneNumber: Kind = (place, language) => {
  const first = wordAt(place)
  if (first === undefined || !/^[+(\d]/u.test(first.text)) return undefined
  for (let count = Math.min(wordsMax, place.words.length - place.at); count > 0; count -= 1) {
    const spoken = spokenAs(place, count, language)
    if (spoken !== undefined) return spoken
  }
  return undefined
}

const spokenAs = (place: Place, count: number, language: Language): Said | undefined => {
  const words = place.words.slice(place.at, place.at + count)
  const last = words.at(-1)
  if (last === undefined || !words.every((word, n) => isPartOf(word, n === count - 1))) return undefined
  const text = words
    .map((word, n) => (n === count - 1 ? `${bracketOf(word)}${word.core}${closing(word)}` : word.text))
    .join(" ")
  const digits = text.replaceAll(/\D/gu, "")
  if (digits.length < 7 || digits.length > 20) return undefined
  if (![international, together, grouped, ...language.telephone].some((pattern) => pattern.test(text))) return undefined
  return {
    isBare: true,
    parts: words.map((word, n) => `${sayGroups(word.text, language)}${n === count - 1 ? "" : ","}`)
  }
}

const isPartOf = ({ core, stop, text, trail }: Word, isLast: boolean) =>
  isLast
    ? /^\(?\+?[\d()./-]{1,20}/u.test(text) && /\d$/u.test(core)
    : /^\(?\+?[\d()./-]{1,20}$/u.test(text) && stop === "" && /^\)?$/u.test(trail)

const bracketOf = ({ lead }: Word) => (lead.includes("(") ? "(" : "")
const closing = ({ lead, trail }: Word) => (lead.includes("(") && trail.startsWith(")") ? ")" : "")

const sayGroups = (written: string, language: Language): string =>
  Array.from(written.matchAll(/\+|\d+/gu), ([group]) => group)
    .map((group) => (group === "+" ? language.words.plus : sayGroup(group, language)))
    .join(", ")
    .replace(`${language.words.plus}, `, `${language.words.plus} `)

/** "800" is "eight hundred" only where people say so; digits are right everywhere. */
const sayGroup = (digits: string, language: Language) =>
  language.sayTelephoneGroup?.(digits) ?? digitByDigit(digits, language)
