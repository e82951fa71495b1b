/** What the verbaliser must know of a language. Its tables are data; each file of `languages` is one language. */
import type { Gender } from "./number.ts"
import type { Place, Said } from "./word.ts"

/** One, many, and the gender of what is counted. */
export interface Noun {
  readonly one: string
  readonly many: string
  readonly gender?: Gender
}

export interface Currency extends Noun {
  /** A hundredth of it. */
  readonly part?: Noun
}

export interface DateParts {
  readonly day?: number | undefined
  /** 1 is January. */
  readonly month?: number | undefined
  /** As it is written: two or four digits. */
  readonly year?: string | undefined
}

export interface ClockTime {
  readonly hour: number
  readonly minute?: number | undefined
  readonly second?: number | undefined
  readonly half?: "am" | "pm" | undefined
}

/** Speaks one word of a text, or with it those after it; undefined if it is not of its kind. */
export type Kind = (place: Place, language: Language) => Said | undefined

/** Speaks a word by itself, without punctuation. */
export type Reader = (core: string, language: Language, place: Place) => string | undefined

export interface Language {
  readonly decimalMark: "." | ","
  /** The space that may separate thousands. */
  readonly groupSpace: RegExp | undefined
  /** How a date in digits is ordered. */
  readonly isMonthFirst: boolean
  readonly cardinal: (digits: string, gender?: Gender) => string
  readonly ordinal: (digits: string, gender?: Gender) => string
  /** A number with signs that make it an ordinal: "3rd", "3e", "3º". */
  readonly sayOrdinal: Reader
  /** The gender of what a number counts, where its words depend on it: "veintiuna casas", "ein Haus". */
  readonly genderAt?: (place: Place) => Gender | undefined
  readonly point: string
  readonly sayFraction: (digits: string) => string
  /** A year of two or four digits. */
  readonly year: (digits: string) => string
  readonly months: ReadonlyArray<string>
  /** `place`: where it stands, for languages that decline it. */
  readonly date: (parts: DateParts, place?: Place) => string
  readonly time: (time: ClockTime) => string
  /** A part of a whole: 1 and 2 are "one half"; with a gender, of what follows. */
  readonly fraction: (above: string, below: string, gender?: Gender) => string
  /** What joins a whole number and a fraction: "two and a half". */
  readonly mixed: (whole: string, above: string, below: string, gender?: Gender) => string
  /** The number of a flight, a model or a room, of at most four digits. */
  readonly sayLabel: (digits: string) => string
  readonly words: Words
  readonly currencies: Readonly<Record<string, Currency>>
  readonly magnitudes: Readonly<Record<string, Noun>>
  /** What is counted by millions: "three million dollars", "tres millones de dólares". */
  readonly ofMagnitude: (noun: string) => string
  readonly units: ReadonlyMap<string, Noun>
  /** Units that are words or letters of their own behind a number: "5 A", "3 in". */
  readonly uncertainUnits: ReadonlySet<string>
  /** "kilometers per hour". */
  readonly per: string
  readonly signs: Readonly<Record<string, string>>
  /** Signs between numbers: "equals", "times". */
  readonly operators: Readonly<Record<string, string>>
  readonly symbols: Readonly<Record<string, string>>
  /** The language's own kinds, before those of all, and for what is left after them. */
  readonly kinds: ReadonlyArray<Kind>
  readonly lateKinds: ReadonlyArray<Kind>
  /** Whether an amount between these two is one: "a $5 bill". */
  readonly isAttribute?: (article: string, noun: string) => boolean
  /** Capitals that are read as a word: "ARM64". */
  readonly acronyms?: ReadonlySet<string>
  /** Words whose fraction counts parts: "step 1/4". */
  readonly isCounted: RegExp
  /** Whether "m" between these two is a million: "15m people". */
  readonly isCrowd?: (previous: string, next: string) => boolean
  readonly isNoun?: (core: string) => boolean
  /** Where nouns have capitals too. */
  readonly startsSentence?: (core: string) => boolean
  /** Words whose number is a name: "exit 12A", "room 101". */
  readonly isLabelled: RegExp
  /** Words before a time with a full stop, "alle 14.30", and before a day and a month, "on 12/25". */
  readonly isBeforeTime?: RegExp
  readonly isBeforeDate: RegExp
  /** With "by" behind them a fraction follows, no date. */
  readonly isOperation?: RegExp
  /** Points of a total follow. */
  readonly isRating?: RegExp
  /** Telephone numbers that begin with no country, and how one group of them is said. */
  readonly telephone: ReadonlyArray<RegExp>
  readonly sayTelephoneGroup?: (digits: string) => string
}

export interface Words {
  readonly minus: string
  readonly plus: string
  readonly to: string
  readonly and: string
  readonly by: string
  readonly of: string
  readonly outOf: string
  /** "3:2": "three to two". */
  readonly against: string
  readonly number: string
  readonly about: string
  readonly squared: string
  readonly cubed: string
  /** "m²": "square meters". */
  readonly square: (unit: string) => string
  readonly cubic: (unit: string) => string
  readonly power: (exponent: string) => string
}
