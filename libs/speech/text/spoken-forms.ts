/** How a written English word is spoken, where that is not as it is written. Undefined where it is. */
import { isMonthFirst } from "./say-as.ts"
import { spokenAbbreviation } from "./spoken-abbreviations.ts"
import { monthName, monthNumber, readDate, readTime } from "./spoken-dates.ts"
import { cardinal, decimal, digitByDigit, ordinal, year } from "./spoken-numbers.ts"
import { readAddress } from "./spoken-symbols.ts"
import { isMagnitude, readMeasure, readMoney } from "./spoken-units.ts"

export interface Surroundings {
  readonly previous: string
  /** The word that comes next, whatever stands between. */
  readonly beginsNext: string
  readonly locale: string
}

export interface Spoken {
  readonly text: string
  /** How many words of the text it is spoken for. */
  readonly words: 1 | 2
}

/** `next` is the word that follows without punctuation between. */
export const spokenForm = (word: string, next: string | undefined, around: Surroundings): Spoken | undefined => {
  const pair = next === undefined ? undefined : withStop(next, (bare) => ofPair(word, bare))
  if (pair !== undefined) return { text: pair, words: 2 }
  const abbreviation = spokenAbbreviation(word, around.beginsNext)
  const text = abbreviation ?? withStop(word, (bare) => ofWord(bare, around))
  return text === undefined ? undefined : { text, words: 1 }
}

/** A full stop at the end belongs to the sentence, not to the number. */
const withStop = (word: string, read: (bare: string) => string | undefined) => {
  const whole = word.endsWith(".") ? undefined : read(word)
  if (whole !== undefined || !word.endsWith(".")) return whole
  const bare = read(word.slice(0, -1))
  return bare === undefined ? undefined : `${bare}.`
}

const isNumber = /^[+−-]?\d[\d,]*(?:\.\d+)?$/u

const ofPair = (word: string, next: string): string | undefined => {
  if (/^\d{1,2}(?:st|nd|rd|th)?$/u.test(next) && /^[A-Z][a-z]{2,8}\.?$/u.test(word)) {
    const month = monthNumber(word)
    const day = Number.parseInt(next, 10)
    return month === undefined || day < 1 || day > 31 ? undefined : `${monthName(month)} ${ordinal(String(day))}`
  }
  if (word.length > 24) return undefined
  if (isMagnitude(next)) return readMoney(word + next)
  if (/^[ap]\.?m$/iu.test(next)) return readTime(word + next.replace(".", ""))
  // "5 m" is a length; "5 A" and "5 s" are not sure to be.
  return isNumber.test(word) && /^(?:[a-z°µ]{2}|[mglhV%])/iu.test(next) ? readMeasure(word + next) : undefined
}

const ofWord = (word: string, around: Surroundings): string | undefined => {
  if (word.length <= 32 && /\d/u.test(word)) {
    const number = ofNumber(word, around)
    if (number !== undefined) return number
  }
  if (word === "&") return "and"
  return word.includes(".") || word.includes("@") ? readAddress(word) : undefined
}

const fractions = new Map([
  [2, "half"],
  [3, "third"],
  [4, "quarter"]
])
const beforeYears = new Set("in since until from by during of year before after circa".split(" "))

const ofNumber = (word: string, { locale, previous }: Surroundings): string | undefined => {
  if (/^\d{4}$/u.test(word) && beforeYears.has(previous.toLowerCase()))
    return isYear(word) ? year(word) : cardinal(word)
  if (/^[+−-]?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,15})?$/u.test(word)) return decimal(word)
  if (/^\d{16,32}$/u.test(word)) return digitByDigit(word)
  const [, first = "", infix, second = ""] = /^(\d{1,9})([/–-])(\d{1,9})$/u.exec(word) ?? []
  if (infix === "/") return fraction(first, second)
  if (infix !== undefined) {
    const areYears = isYear(first) && isYear(second)
    return areYears ? `${year(first)} to ${year(second)}` : `${cardinal(first)} to ${cardinal(second)}`
  }
  const [, nth] = /^(\d{1,9})(?:st|nd|rd|th)$/u.exec(word) ?? []
  if (nth !== undefined) return ordinal(nth)
  const [, hashed] = /^#(\d{1,9})$/u.exec(word) ?? []
  if (hashed !== undefined) return `number ${cardinal(hashed)}`
  return readMoney(word) ?? readTime(word) ?? readDate(word, isMonthFirst(locale)) ?? readMeasure(word)
}

const isYear = (digits: string) => /^(?:1[1-9]|20)\d{2}$/u.test(digits)

const fraction = (above: string, below: string) => {
  const [top, bottom] = [Number(above), Number(below)]
  if (top === 0 || bottom < 2 || bottom > 20 || top >= bottom) return `${cardinal(above)} over ${cardinal(below)}`
  const part = fractions.get(bottom) ?? ordinal(below)
  if (top === 1) return `one ${part}`
  return `${cardinal(above)} ${part === "half" ? "halves" : `${part}s`}`
}
