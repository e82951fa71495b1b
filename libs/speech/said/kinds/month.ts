/** Months that are cut off, behind a day or before a year: "15 ene. 2024", "Sept. 2024". Pure. */
import type { Kind } from "../language.ts"
import { entriesOf } from "../tables.ts"
import { mayEndSentence, previousCore, wordAt } from "../word.ts"

/** `table`: `ene enero; feb febrero`. */
export const shortMonth = (table: string): Kind => {
  const months = new Map(entriesOf(table))
  return (place, language) => {
    const word = wordAt(place)
    const name = word === undefined || word.core.length > 5 ? undefined : months.get(word.core.toLowerCase())
    if (word === undefined || name === undefined) return undefined
    const previous = previousCore(place)
    const day = /^(?:de|\/)$/u.test(previous) ? (wordAt(place, -2)?.core ?? "") : previous
    const isDated = /^\d{1,2}(?:º|°|er)?$/u.test(day) || /^\d{4}$/u.test(wordAt(place, 1)?.core ?? "")
    return isDated ? { parts: [name], takesStop: !mayEndSentence(place, language.startsSentence) } : undefined
  }
}
