/** Times of the day, and hours with minutes. Pure. */
import type { Kind, Language, Reader } from "../language.ts"
import { following, mayEndSentence, type Place, previousCore, type Said, said, wordAt } from "../word.ts"

const clock = /^(\d{1,2})(?:(?:[:h]|\.(?=\d\d[ap]))(\d{2})(?::(\d{2}))?)?(am|pm|a\.m|p\.m|(?<=:\d\d)[ap])?$/iu

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
    : { ...said(`${from} ${language.words.to} ${to}`, null, null), takesStop: goesOn(place, 3) }
}

/** A zone may follow: "5 p.m. ET". */
const goesOn = (place: Place, offset: number) => {
  const [last, after] = [wordAt(place, offset - 1), wordAt(place, offset)]
  return (
    last?.stop === "." &&
    last.trail === "" &&
    after !== undefined &&
    (!/^\p{Lu}/u.test(after.core) || /^(?:\p{Lu}{2,4}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)$/u.test(after.core))
  )
}

/** "alle 14.30", "a las 9.30": with a full stop behind a word that asks for a time. */
export const dottedTime: Kind = (place, language) => {
  const core = wordAt(place)?.core ?? ""
  if (!/^\d{1,2}\.\d{2}$/u.test(core) || language.isBeforeTime?.test(previousCore(place)) !== true) return undefined
  const text = readTime(core.replace(".", ":"), language)
  return text === undefined ? undefined : said(text)
}

/** "14 h 30" and "14:30 h", but "2 h 30 min" is a duration. */
export const spacedTime: Kind = (place, language) => {
  const [word, next, third] = [wordAt(place), following(place), following(place, 2)]
  const whole = /^h(?:s|rs)?$/u.test(next?.core ?? "")
    ? readTime((word?.core ?? "").replace(".", ":"), language)
    : undefined
  if (whole !== undefined) return { parts: [whole, null], takesStop: !mayEndSentence({ ...place, at: place.at + 1 }) }
  if (word === undefined || next?.core !== "h" || !/^\d{2}$/u.test(third?.core ?? "")) return undefined
  if (wordAt(place, 3)?.core === "min") return undefined
  const text = readTime(`${word.core}:${third?.core ?? ""}`, language)
  return text === undefined ? undefined : said(text, null, null)
}

/** "5 p. m.", as Spanish writes it. */
const apartHalf = (place: Place, language: Language): Said | undefined => {
  const [next, last] = [following(place), wordAt(place, 2)]
  if (!/^[ap]$/iu.test(next?.core ?? "") || next?.stop !== "." || last?.core.toLowerCase() !== "m") return undefined
  const text = readTime(`${wordAt(place)?.core ?? ""}${next.core}m`, language)
  return text === undefined
    ? undefined
    : { parts: [text, null, null], takesStop: !mayEndSentence({ ...place, at: place.at + 2 }) }
}

/** "5 p.m." */
export const timeInWords: Kind = (place, language) => {
  const together = untilInWords(place, language) ?? apartHalf(place, language)
  if (together !== undefined) return together
  const [word, next] = [wordAt(place), following(place)]
  if (word === undefined || next === undefined || !/^[ap]\.?m$/iu.test(next.core)) return undefined
  const text = readTime(`${word.core}${next.core.replace(".", "")}`, language)
  if (text === undefined) return undefined
  const cut = text.lastIndexOf(" ", text.lastIndexOf(" ") - 1)
  const takesStop = next.core.includes(".") && goesOn(place, 2)
  return { ...said(text.slice(0, cut), text.slice(cut + 1)), takesStop }
}
