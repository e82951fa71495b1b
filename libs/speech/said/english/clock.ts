/** English times that need the words around them: durations, minutes behind hours, zones. Pure. */
import type { Kind } from "../language.ts"
import { withOh } from "./digits.ts"
import { following, previousCore, said, wordAt } from "../word.ts"

export const clock: Kind = (place, language) => {
  const word = wordAt(place)
  if (word === undefined) return undefined
  const previous = previousCore(place)
  const count = (digits: string, name: string) =>
    `${language.cardinal(String(Number(digits)))} ${name}${Number(digits) === 1 ? "" : "s"}`
  // A lap of one digit's hours, not a time of the day.
  const [, hours, minutes, seconds, part] = /^(\d):(\d{2}):(\d{2})(?:\.(\d{1,3}))?$/u.exec(word.core) ?? []
  if (hours !== undefined && minutes !== undefined && seconds !== undefined) {
    const exact =
      part === undefined
        ? count(seconds, "second")
        : `${language.cardinal(String(Number(seconds)))} point ${language.sayFraction(part)} seconds`
    return said(`${count(hours, "hour")} ${count(minutes, "minute")} and ${exact}`)
  }
  const [, behind] = /^(\d{1,2})m$/u.exec(word.core) ?? []
  const isMinutes = /^\d{1,2}h$/u.test(previous) || /^\d{1,2}s$/u.test(wordAt(place, 1)?.core ?? "")
  if (behind !== undefined && isMinutes) return said(count(behind, "minute"))
  const [, whole, rest = ""] = /^(\d{1,2})m(\d{1,2})s$/u.exec(word.core) ?? []
  if (whole !== undefined) return said(`${count(whole, "minute")} ${count(rest, "second")}`)
  const [, hour, minute = ""] = /^(\d{1,2})h(\d{1,2})m(?:in)?$/u.exec(word.core) ?? []
  if (hour !== undefined) return said(`${count(hour, "hour")} ${count(minute, "minute")}`)
  const [, military = "", past = ""] = /^([01]\d|2[0-3])([0-5]\d)$/u.exec(word.core) ?? []
  if (military !== "" && /^(?:gmt|utc|z|hours|hrs)$/iu.test(following(place)?.core ?? "")) {
    const minute = past === "00" ? "hundred" : withOh(past, language.cardinal)
    return said(`${withOh(military, language.cardinal)} ${minute}`)
  }
  return isZone.test(word.core) && isTime.test(previous) ? said(zoneNames[word.core] ?? spaced(word.core)) : undefined
}

const isZone = /^(?:[ecmp][sd]?t|utc|gmt|cest|bst|ist)$/iu
const isTime = /(?:^|\d)[ap]\.?m$|^(?:\d{1,2}:\d{2})(?:[–-]\d{1,2}:\d{2})?$|^\d{1,2}[–-]\d{1,2}$/iu
/** In spring and in autumn alike. */
const zoneNames: Readonly<Record<string, string>> = { ET: "Eastern", CT: "Central", MT: "Mountain", PT: "Pacific" }
const spaced = (letters: string) => Array.from(letters.toUpperCase()).join(" ")
