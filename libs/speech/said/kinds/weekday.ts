/** Days of the week that are cut off: "Mo–Fr", "lun.-ven.", "Sa 10 Uhr". Pure. */
import type { Kind } from "../language.ts"
import { entriesOf } from "../tables.ts"
import { wordAt } from "../word.ts"

/** `table`: `Mo Montag; Di Dienstag`. Alone they are read before a number. */
export const weekday = (table: string): Kind => {
  const days = new Map(entriesOf(table))
  return (place, language) => {
    const word = wordAt(place)
    if (word === undefined || word.core.length > 12) return undefined
    const [from = "", to, ...more] = word.core
      .split(/[–-]/u)
      .map((part) => days.get(part.replace(/\.$/u, "").toLowerCase()))
    if (from === "" || more.length > 0) return undefined
    if (to !== undefined) return { parts: [`${from} ${language.words.to} ${to}`], takesStop: word.stop === "." }
    const isDated = /^\d/u.test(wordAt(place, 1)?.core ?? "")
    return isDated && !/[–-]/u.test(word.core) ? { parts: [from], takesStop: true } : undefined
  }
}
