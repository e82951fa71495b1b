/** German times: "10:00 Uhr", "10.30 Uhr", "1 Uhr", "8–10 Uhr". Pure. */
import { readTime } from "../kinds/time.ts"
import type { Kind } from "../language.ts"
import { following, previousCore, said, wordAt } from "../word.ts"

/** The word "Uhr" is spoken between hours and minutes. */
export const clock: Kind = (place, language) => {
  const [word, next] = [wordAt(place), following(place)]
  // "um 18h"
  const [, hour] = /^(\d{1,2})h$/u.exec(word?.core ?? "") ?? []
  if (hour !== undefined && /^(?:um|ab|bis|gegen|ca)$/iu.test(previousCore(place))) {
    const spoken = readTime(`${hour}:00`, language)
    return spoken === undefined ? undefined : said(spoken)
  }
  if (word === undefined || next?.core !== "Uhr" || !/^\d/u.test(word.core)) return undefined
  const [from = "", to, ...more] = word.core.split(/[–-]/u).map((part) => part.replace(".", ":"))
  if (more.length > 0) return undefined
  if (to === undefined) return oneTime(from)
  const [left, right] = [sayTime(from), sayTime(to)]
  return left === undefined || right === undefined
    ? undefined
    : said(`${left.replace(/ Uhr$/u, "")} ${language.words.to} ${right}`, null)

  function sayTime(text: string) {
    return readTime(/^\d{1,2}$/u.test(text) ? `${text}:00` : text, language)
  }

  function oneTime(text: string) {
    const spoken = sayTime(text)
    if (spoken === undefined) return undefined
    return spoken.endsWith(" Uhr") ? said(spoken.slice(0, -4), "Uhr") : said(spoken, null)
  }
}
