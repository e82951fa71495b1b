/** Roman numerals: of rulers, of centuries and chapters, and before what they count. Pure. */
import type { Kind, Language } from "../language.ts"
import { mayEndSentence, type Place, previousCore, said, wordAt } from "../word.ts"

const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 }
const wellFormed = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/u

/** Undefined if it is not written as a Roman numeral. */
export const romanValue = (text: string): number | undefined => {
  if (text === "" || !wellFormed.test(text)) return undefined
  const digits = Array.from(text, (letter) => values[letter] ?? 0)
  return digits.reduce((sum, value, at) => sum + (value < (digits[at + 1] ?? 0) ? -value : value), 0)
}

/** Where a language reads letters as a number. */
export interface RomanNumerals {
  readonly rulers: ReadonlySet<string>
  readonly ofRuler: (digits: string, ruler: string) => string
  /** "siglo", "Kapitel": before a numeral. */
  readonly headings: RegExp
  readonly ofHeading?: (digits: string, heading: string) => string
  /** "secolo", "Guerra": behind one, which is an ordinal then. */
  readonly counted?: RegExp
  /** Letters behind it: "XXIe", "Ier". */
  readonly suffix?: RegExp
  /** Where "I" is a word too: what may follow the number of a name. */
  readonly isBehindName?: RegExp
}

const numerals = /^([IVXLCDM]{1,9}|[ivx]{2,5}(?=$)|[\u2160-\u2188]{1,3})(\p{Ll}{0,3}|['’]s)$/u

export const romanNumeral =
  (data: RomanNumerals): Kind =>
  (place, language) => {
    const word = wordAt(place)
    const [, numeral = "", tail = ""] = numerals.exec(word?.core ?? "") ?? []
    // "Act II, Scene ii"
    const isSmall = /^[ivx]/u.test(numeral)
    if (isSmall && !data.headings.test(previousCore(place))) return undefined
    const value = romanValue(isSmall ? numeral.toUpperCase() : numeral.normalize("NFKC"))
    if (word === undefined || value === undefined) return undefined
    const isOwner = /^['’]/u.test(tail)
    if (tail !== "" && !isOwner) return saidIf(withSuffix(data, numeral, `${value}${tail}`, place, language))
    const text = inContext(data, String(value), numeral, place, language)
    // "Ludwig XIV." keeps its full stop at the end of a sentence.
    return text === undefined
      ? undefined
      : { parts: [`${text}${tail}`], takesStop: !mayEndSentence(place, language.startsSentence) }
  }

const saidIf = (text: string | undefined) => (text === undefined ? undefined : said(text))

const withSuffix = ({ suffix }: RomanNumerals, numeral: string, nth: string, place: Place, language: Language) =>
  /^[IVX]+$/u.test(numeral) && suffix?.test(nth) === true ? language.sayOrdinal(nth, language, place) : undefined

const inContext = (data: RomanNumerals, digits: string, numeral: string, place: Place, language: Language) => {
  const [previous, next] = [previousCore(place), wordAt(place, 1)?.core ?? ""]
  const counted = data.counted?.test(next) === true
  if (counted && wordAt(place)?.trail === "") return language.ordinal(digits, language.genderAt?.(place))
  if (data.rulers.has(previous) && isNumberOfName(data, numeral, next, place)) return data.ofRuler(digits, previous)
  if (data.headings.test(previous) && isNumberOfHeading(data, numeral, previous))
    return data.ofHeading?.(digits, previous) ?? language.cardinal(digits)
  if (/[\u2160-\u2188]/u.test(numeral)) return language.cardinal(digits)
  // "Superman II": CD, MD, MC and DC are no numerals.
  const isSeries =
    /^[IVX]{2,5}$/u.test(numeral) && /^(?!The$)\p{Lu}\p{Ll}{2}/u.test(previous) && wordAt(place, -1)?.trail === ""
  return isSeries ? language.cardinal(digits) : undefined
}

/** A letter alone may be an initial, or a word: "Juan V. Pérez", "Charles I think of". */
const isNumberOfName = ({ isBehindName }: RomanNumerals, numeral: string, next: string, place: Place) => {
  const [stop = "", trail = ""] = [wordAt(place)?.stop, wordAt(place)?.trail]
  if (numeral === "I" && isBehindName !== undefined)
    return next === "" || trail + stop !== "" || isBehindName.test(next)
  return numeral.length > 1 || stop === "" || trail !== "" || !/^\p{Lu}/u.test(next)
}

/** "Class C" and "Exhibit D" have letters, and "the part I like" a word. */
const isNumberOfHeading = ({ isBehindName }: RomanNumerals, numeral: string, heading: string) =>
  !/^[LCDM]$/u.test(numeral) && (isBehindName === undefined || numeral.length > 1 || /^\p{Lu}/u.test(heading))
