/** Tables of a language, written densely: entries end at a semicolon or a line. */
import type { Currency, Noun } from "./language.ts"
import type { Gender } from "./number.ts"

/** What stands before the first space of each entry, and what behind it. */
export const entriesOf = (table: string): ReadonlyArray<readonly [string, string]> =>
  table
    .split(/[;\n]/u)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const cut = entry.indexOf(" ")
      return cut === -1 ? [entry, ""] : [entry.slice(0, cut), entry.slice(cut + 1)]
    })

export const tableOf = (table: string): Readonly<Record<string, string>> => Object.fromEntries(entriesOf(table))

export interface NounRules {
  readonly gender?: Gender
  readonly plural?: (one: string) => string
}

/**
 * Units: a sign, one of it and, behind a slash where it is not regular, many of it. A space in a sign is written as "_",
 * and ":f" behind it makes it feminine.
 */
export const nounsOf = (table: string, rules: NounRules = {}): ReadonlyMap<string, Noun> =>
  new Map(
    entriesOf(table).map(([key, names]) => {
      const [sign, its] = genderOf(key, rules)
      return [sign.replaceAll("_", " "), nounOf(names, its)]
    })
  )

/** Currencies: a code and a noun, and behind a comma the hundredth of it: "EUR euro, céntimo". */
export const currenciesOf = (table: string, rules: NounRules): Readonly<Record<string, Currency>> =>
  Object.fromEntries(
    entriesOf(table).map(([key, names]) => {
      const [code, its] = genderOf(key, rules)
      const [name = "", part] = names.split(", ")
      const noun = nounOf(name, its)
      return [code, part === undefined ? noun : { ...noun, part: nounOf(part, rules) }]
    })
  )

/** Magnitudes: all that is written for one, with bars between: "mio|million Million/Millionen". */
export const magnitudesOf = (table: string, rules: NounRules): Readonly<Record<string, Noun>> =>
  Object.fromEntries(
    entriesOf(table).flatMap(([keys, names]) => keys.split("|").map((key) => [key, nounOf(names, rules)] as const))
  )

const genderOf = (key: string, rules: NounRules): readonly [string, NounRules] =>
  key.length > 2 && key.endsWith(":f") ? [key.slice(0, -2), { ...rules, gender: "feminine" }] : [key, rules]

const nounOf = (names: string, { gender, plural = (one) => `${one}s` }: NounRules): Noun => {
  const [one = "", many = plural(one)] = names.split("/")
  return gender === undefined ? { one, many } : { one, many, gender }
}
