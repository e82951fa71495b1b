/** Times of the day, and hours with minutes. Pure. */
import type { Kind, Language, Reader } from "../language.ts"
import { following, said, wordAt } from "../word.ts"

const clock = /^(\d{1,2})(?:[:h](\d{2})(?::(\d{2}))?)?(am|pm|a\.m|p\.m|(?<=:\d\d)[ap])?$/iu

export const readTime = (text: string, language: Language): string | undefined => {
  const [, hour = "", minute, second, half] = clock.exec(text) ?? []
  if (hour === "" || (minute === undefined && half === undefined)) return undefined
  if (Number(hour) > 24 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined
  if (half !== undefined && (Number(hour) > 12 || Number(hour) === 0)) return undefined
  return language.time({
    hour: Number(hour),
    minute: minute === undefined ? undefined : Number(minute),
    second: second === undefined ? undefined : Number(second),
    half: half === undefined ? undefined : /^a/iu.test(half) ? "am" : "pm"
  })
}

export const sayTime: Reader = (core, language) => readTime(core, language)

/** "8 a.m.–6 p.m.": the middle word holds two halves. */
const untilInWords: Kind = (place, language) => {
  const [word, next, third] = [wordAt(place), wordAt(place, 1), wordAt(place, 2)]
  const [, half, hour] = /^([ap]\.?m)\.?[–-](\d{1,2}(?::\d{2})?)$/u.exec(next?.core ?? "") ?? []
  if (word === undefined || half === undefined || hour === undefined || !/^[ap]\.?m$/u.test(third?.core ?? ""))
    return undefined
  const [from, to] = [readTime(`${word.core}${half}`, language), readTime(`${hour}${third?.core}`, language)]
  return from === undefined || to === undefined
    ? undefined
    : { ...said(`${from} ${language.words.to} ${to}`, null, null), takesStop: false }
}

/** "5 p.m." */
export const timeInWords: Kind = (place, language) => {
  const until = untilInWords(place, language)
  if (until !== undefined) return until
  const [word, next] = [wordAt(place), following(place)]
  if (word === undefined || next === undefined || !/^[ap]\.?m$/iu.test(next.core)) return undefined
  const text = readTime(`${word.core}${next.core.replace(".", "")}`, language)
  if (text === undefined) return undefined
  const cut = text.lastIndexOf(" ", text.lastIndexOf(" ") - 1)
  const after = wordAt(place, 2)
  // A zone may follow: "5 p.m. ET".
  const isWithin = after !== undefined && (!/^\p{Lu}/u.test(after.core) || /^\p{Lu}{2,4}$/u.test(after.core))
  const takesStop = next.core.includes(".") && isWithin && next.trail === ""
  return { ...said(text.slice(0, cut), text.slice(cut + 1)), takesStop }
}
