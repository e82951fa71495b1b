/** Days of the week that are cut off: "Mo–Fr", "lun.-ven.", "Sa 10 Uhr". Pure. */
import type { Kind } from "../language.ts"
import { entriesOf } from "../tables.ts"
import { mayEndSentence, wordAt } from "../word.ts"

/** `table`: `Mo Montag; Di Dienstag`. Alone they are read before a number, or cut off. */
export const weekday = (table: string): Kind => {
  const days = new Map(entriesOf(table))
  return (place, language) => {
    const word = wordAt(place)
    if (word === undefined || word.core.length > 12) return undefined
    const [from = "", to, ...more] = word.core.split(/[–-]/u).map((part) => named(days, part.replace(/\.$/u, "")))
    if (from === "" || more.length > 0) return undefined
    if (to !== undefined) return { parts: [`${from} ${language.words.to} ${to}`], takesStop: word.stop === "." }
    const isDated = /^\d/u.test(wordAt(place, 1)?.core ?? "")
    const isCut = word.stop === "." && !mayEndSentence(place, language.startsSentence)
    return (isDated || isCut) && !/[–-]/u.test(word.core) ? { parts: [from], takesStop: true } : undefined
  }
}

/** "So" is Sunday, "so" is not, where days have capitals. */
const named = (days: ReadonlyMap<string, string>, core: string) => days.get(core) ?? days.get(core.toLowerCase())
