/** Tables of a language, written densely: entries end at a semicolon or a line. */
import type { Noun } from "./language.ts"
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
export const nounsOf = (table: string, { gender, plural = (one) => `${one}s` }: NounRules = {}) =>
  new Map(
    entriesOf(table).map(([key, names]): [string, Noun] => {
      const [sign, feminine] = key.length > 2 && key.endsWith(":f") ? [key.slice(0, -2), true] : [key, false]
      const [one = "", many = plural(one)] = names.split("/")
      const noun: Noun = { one, many }
      const its = feminine ? "feminine" : gender
      return [sign.replaceAll("_", " "), its === undefined ? noun : { ...noun, gender: its }]
    })
  )
