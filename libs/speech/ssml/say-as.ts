/**
 * The text that an engine gets for each kind of `say-as`. Content that engines read right on their own stays as it is.
 * Words are made for English only, letters and digits for every language.
 */
import { isMonthFirst, readDate, readTime, spokenDate } from "../english/dates.ts"
import { isEnglish } from "../english/normalise.ts"
import { cardinal, decimal, ordinal } from "../english/numbers.ts"
import { symbolName } from "../english/symbols.ts"
import { readMeasure } from "../english/units.ts"

type Rewrite = (content: string) => string

/** Undefined for an unknown kind. */
export const rewritesOf = (kind: string, format: string, locale: string): Rewrite | undefined => {
  const english = isEnglish(locale)
  const inEnglish =
    (read: (content: string) => string | undefined): Rewrite =>
    (content) =>
      (english ? read(content) : undefined) ?? content
  const kinds: Readonly<Record<string, Rewrite>> = {
    characters: spelled(english),
    "spell-out": spelled(english),
    digits: digitsApart,
    telephone: telephone(english),
    cardinal: inEnglish(readCardinal),
    number: inEnglish(readCardinal),
    ordinal: english ? readOrdinal : (content) => ordinalSign(content, locale),
    date: inEnglish((content) => readFormattedDate(content, format) ?? readDate(content, isMonthFirst(locale))),
    time: inEnglish((content) => readTime(content.replaceAll(" ", ""))),
    unit: inEnglish((content) => readMeasure(content.replaceAll(" ", "")))
  }
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}

// In capitals, so that a lone "a" is the letter and not the article.
const spelled =
  (english: boolean): Rewrite =>
  (content) =>
    Array.from(content.replaceAll(" ", ""), (character) => {
      const upper = character.toUpperCase()
      return (english ? symbolName(character) : undefined) ?? (upper.length === character.length ? upper : character)
    }).join(" ")

const digitsApart: Rewrite = (content) => Array.from(content.replaceAll(/\P{Nd}/gu, "")).join(" ") || content

/** Commas keep the groups apart, because engines rest there. */
const telephone =
  (english: boolean): Rewrite =>
  (content) => {
    const groups = content.split(/[^\p{Nd}+]/u).filter((group) => group !== "")
    const plus = english ? "plus" : "+"
    const spoken = groups.map((group) => Array.from(group, (digit) => (digit === "+" ? plus : digit)).join(" "))
    return spoken.join(", ") || content
  }

const number = /^[+−-]?\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,20})?$|^[+−-]?\d{1,40}(?:\.\d{1,20})?$/u

const readCardinal = (content: string) => (number.test(content) ? decimal(content) : undefined)

const readOrdinal: Rewrite = (content) => {
  const [, digits] = /^(\d{1,15})(?:st|nd|rd|th|\.)?$/iu.exec(content) ?? []
  return digits === undefined ? content : ordinal(digits)
}

const ordinalSigns: Readonly<Record<string, string>> = { de: ".", fr: "e", es: "º", it: "º", pt: "º" }

const ordinalSign = (content: string, locale: string) => {
  const sign = ordinalSigns[locale.slice(0, 2).toLowerCase()]
  return sign !== undefined && /^\d{1,15}$/u.test(content) ? `${content}${sign}` : content
}

/** Reads a date by the letters of `format`, such as "mdy" or "ym": each letter takes the next number. */
const readFormattedDate = (content: string, format: string) => {
  const letters = format.toLowerCase()
  const numbers = content.split(/\D/u).filter((part) => part !== "")
  if (!/^[dmy]{1,3}$/u.test(letters) || new Set(letters).size !== letters.length) return undefined
  if (letters.length !== numbers.length || numbers.some((part) => part.length > 4)) return undefined
  const part = (letter: string) => numbers[letters.indexOf(letter)]
  const [day, month, year] = [part("d"), part("m"), part("y")]
  if (letters === "d") return cardinal(day ?? "")
  return spokenDate({
    day: day === undefined ? undefined : Number(day),
    month: month === undefined ? undefined : Number(month),
    year
  })
}
