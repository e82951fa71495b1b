/** English times that need the words around them: durations, minutes behind hours, zones. Pure. */
import type { Kind } from "../language.ts"
import { previousCore, said, wordAt } from "../word.ts"

export const clock: Kind = (place, language) => {
  const word = wordAt(place)
  if (word === undefined) return undefined
  const previous = previousCore(place)
  const count = (digits: string, name: string) =>
    `${language.cardinal(String(Number(digits)))} ${name}${Number(digits) === 1 ? "" : "s"}`
  // A lap of one digit's hours, not a time of the day.
  const [, hours, minutes, seconds] = /^(\d):(\d{2}):(\d{2})$/u.exec(word.core) ?? []
  if (hours !== undefined && minutes !== undefined && seconds !== undefined) {
    return said(`${count(hours, "hour")} ${count(minutes, "minute")} and ${count(seconds, "second")}`)
  }
  const [, behind] = /^(\d{1,2})m$/u.exec(word.core) ?? []
  if (behind !== undefined && /^\d{1,2}h$/u.test(previous)) return said(count(behind, "minute"))
  const [, hour, minute = ""] = /^(\d{1,2})h(\d{1,2})m(?:in)?$/u.exec(word.core) ?? []
  if (hour !== undefined) return said(`${count(hour, "hour")} ${count(minute, "minute")}`)
  const isZone =
    /^(?:[ecmp][sd]?t|utc|gmt|cest|bst|ist)$/iu.test(word.core) &&
    /^(?:[ap]\.?m|\d{1,2}:\d{2}|\d{1,2}[ap]m)$/iu.test(previous)
  return isZone ? { parts: [Array.from(word.core.toUpperCase()).join(" ")] } : undefined
}
