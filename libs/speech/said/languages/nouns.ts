/** Tables of units, written densely: a sign, one of it and, behind a slash where it is no plain "s", many of it. */
import type { Noun } from "../language.ts"

/** Entries end at a semicolon or a line. A space in a sign is written as "_". */
export const nounsOf = (table: string): ReadonlyMap<string, Noun> =>
  new Map(
    table
      .split(/[;\n]/u)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
      .map((entry) => {
        const cut = entry.indexOf(" ")
        return [entry.slice(0, cut).replaceAll("_", " "), nounOf(entry.slice(cut + 1))] as const
      })
  )

const nounOf = (names: string): Noun => {
  const [one = "", many = `${one}s`] = names.split("/")
  return { one, many }
}
