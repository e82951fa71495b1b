/** The kinds of SSML's `say-as`: what a content is spoken as, in words of its language. Pure. */
import { inFull, sayDate } from "./kinds/date.ts"
import { unitNamed } from "./kinds/unit.ts"
import { readTime } from "./kinds/time.ts"
import type { Language } from "./language.ts"
import { languageOf } from "./languages/index.ts"
import { isOne, readNumber, sayNumber } from "./number.ts"
import { nowhere } from "./word.ts"

type Rewrite = (content: string) => string

/**
 * The text that an engine gets for each kind of `say-as`; undefined for an unknown one. Content that is not of its kind
 * stays unchanged, and so does that of a language without words here, but for letters and digits.
 */
export const rewritesOf = (kind: string, format: string, locale: string): Rewrite | undefined => {
  const language = languageOf(locale)
  const inWords =
    (read: (content: string, language: Language) => string | undefined): Rewrite =>
    (content) =>
      (language === undefined ? undefined : read(content, language)) ?? content
  const kinds: Readonly<Record<string, Rewrite>> = {
    characters: spelled(language),
    "spell-out": spelled(language),
    digits: spacedDigits,
    telephone: telephone(language),
    cardinal: inWords(cardinalOf),
    number: inWords(cardinalOf),
    ordinal: inWords(ordinalOf),
    date: inWords((content, language) => formattedDate(content, format, language) ?? dateOf(content, language)),
    time: inWords((content, language) => readTime(content.replaceAll(" ", ""), language)),
    unit: inWords(measureOf)
  }
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}

// In capitals, so that a lone "a" is the letter and not the article.
const spelled =
  (language: Language | undefined): Rewrite =>
  (content) =>
    Array.from(content.replaceAll(" ", ""), (character) => {
      const upper = character.toUpperCase()
      return language?.symbols[character] ?? (upper.length === character.length ? upper : character)
    }).join(" ")

const spacedDigits: Rewrite = (content) => Array.from(content.replaceAll(/\P{Nd}/gu, "")).join(" ") || content

/** Commas separate the groups, because engines pause there. */
const telephone =
  (language: Language | undefined): Rewrite =>
  (content) => {
    const groups = content.split(/[^\p{Nd}+]/u).filter((group) => group !== "")
    const plus = language?.words.plus ?? "+"
    const spoken = groups.map((group) => Array.from(group, (digit) => (digit === "+" ? plus : digit)).join(" "))
    return spoken.join(", ") || content
  }

const cardinalOf = (content: string, language: Language) => {
  const number = readNumber(content.trim(), language)
  return number === undefined ? undefined : sayNumber(number, language)
}

const ordinalOf = (content: string, language: Language) => {
  const [, digits] = /^(\d{1,15})\.?$/u.exec(content) ?? []
  return digits === undefined ? language.sayOrdinal(content, language, nowhere) : language.ordinal(digits)
}

const measureOf = (content: string, language: Language) => {
  const [, digits = "", unit = ""] = /^([+−-]?[\d.,]{1,30}) ?(\D{1,12})$/u.exec(content) ?? []
  const [number, noun] = [readNumber(digits, language), unitNamed(unit, language)]
  if (number === undefined || noun === undefined) return undefined
  return `${sayNumber(number, language, noun.gender)} ${isOne(number) ? noun.one : noun.many}`
}

const dateOf = (content: string, language: Language) => sayDate(content, language, nowhere)

/** Reads a date by the letters of `format`, such as "mdy" or "ym": each letter takes the next number. */
const formattedDate = (content: string, format: string, language: Language) => {
  const letters = format.toLowerCase()
  const numbers = content.split(/\D/u).filter((part) => part !== "")
  if (!/^[dmy]{1,3}$/u.test(letters) || new Set(letters).size !== letters.length) return undefined
  if (letters.length !== numbers.length || numbers.some((part) => part.length > 4)) return undefined
  const part = (letter: string) => numbers[letters.indexOf(letter)]
  const [day, month, year] = [part("d"), part("m"), part("y")]
  if (letters === "d") return language.cardinal(day ?? "")
  if (month !== undefined && (Number(month) < 1 || Number(month) > 12)) return undefined
  if (day !== undefined && (Number(day) < 1 || Number(day) > 31)) return undefined
  return language.date({
    day: day === undefined ? undefined : Number(day),
    month: month === undefined ? undefined : Number(month),
    year: year === undefined ? undefined : inFull(year)
  })
}
