/** German ordinals: a number with a full stop, declined by the words around it. Pure. */
import { romanValue } from "../kinds/roman.ts"
import type { Kind, Language } from "../language.ts"
import { germanOpeners } from "../../text/openers.ts"
import { type Place, previousCore, said, type Said, wordAt, type Word } from "../word.ts"

const determiners =
  /^(?:der|die|das|dem|den|des|am|im|zum|zur|vom|beim|ins|ans|vorm|[msd]?ein(?:e[mnrs]?)?|ihre?[mnrs]?|unse?re?[mnrs]?|eue?re?[mnrs]?|keine?[mnrs]?|jede[mnrs]?|diese[mnrs]?|welche[mnrs]?|alle)$/iu
const prepositions =
  /^(?:ab|an|auf|aus|bei|bis|für|gegen|in|mit|nach|seit|um|von|vor|zu|zwischen|unter|über|während|wegen)$/iu
/** With one of these before it, "der" is dative. */
const beforeDative = /^(?:ab|an|auf|aus|bei|in|mit|nach|neben|seit|unter|von|vor|zu|zwischen|über)$/iu
const neuter =
  /(?:jahr|jahrzehnt|jahrhundert|jahrtausend|quartal|halbjahr|semester|kapitel|buch|kind|spiel|tor|mal|haus|obergeschoss|album|lied|bild|stück|drittel|viertel|wochenende|treffen|gebot|gleis|rennen|date)$/iu
const feminine =
  /(?:ung|heit|keit|schaft|ion|tät|runde|woche|klasse|stufe|etage|hälfte|halbzeit|liga|reihe|seite|strophe|minute|stunde|sekunde|nacht|hand|reise|frage|frau|staffel|folge|auflage|phase|welle|saison|ebene|spalte|zeile|ehe|etappe|ausgabe|wahl|person|dosis|periode)$/iu
/** Behind a number at the start of a line they are counted; anything else is an item of a list. */
const usual =
  /(?:^FC$|liga|advent|klasse|stock|etage|jahrhundert|quartal|halbzeit|platz|auflage|weltkrieg|mannschaft|vorsitzende[rn]?)$/iu

export const ordinalNumber: Kind = (place, language) => {
  const [word, next] = [wordAt(place), wordAt(place, 1)]
  if (word === undefined || word.stop === "" || word.trail !== "" || next === undefined || next.lead !== "")
    return undefined
  const digits = /^\d{1,4}$/u.test(word.core) ? word.core : romanDigits(word.core, previousCore(place))
  if (digits === undefined || digits.startsWith("0") || !isOrdinal(place, word, next, language)) return undefined
  const isTogether = previousCore(place) === "zu" && /^\p{Ll}/u.test(next.core)
  return { parts: [isTogether ? togetherOf(digits, language) : declined(digits, place, language)], takesStop: true }
}

/** "zu zweit", "zu viert": without the ending. */
const togetherOf = (digits: string, language: Language) => language.ordinal(digits).replace(/e$/u, "")

/** "der II. Weltkrieg"; but "Ludwig II. war". */
const romanDigits = (core: string, previous: string) => {
  const value = /^[IVX]{1,6}$/u.test(core) && determiners.test(previous) ? romanValue(core) : undefined
  return value === undefined ? undefined : String(value)
}

const isOrdinal = (place: Place, word: Word, next: Word, language: Language): boolean => {
  if (isMonth(next.core, language)) return Number(word.core) <= 31
  if (/^\d/u.test(next.core)) return false
  if (/^\p{Ll}/u.test(next.core)) return true
  if (!/^\p{Lu}/u.test(next.core) || germanOpeners.has(next.core)) return false
  const previous = previousCore(place)
  if (determiners.test(previous) || usual.test(next.core)) return true
  return prepositions.test(previous) && (feminine.test(next.core) || neuter.test(next.core))
}

export const isMonth = (core: string, language: Language): boolean => monthNumber(core, language) !== undefined

/** 1 is January; abbreviations have no full stop here. */
export const monthNumber = (core: string, language: Language): number | undefined => {
  if (!/^\p{Lu}\p{Ll}{2}/u.test(core) || core.length > 9) return undefined
  if (core === "Jänner" || core === "Jän") return 1
  if (core === "Sept") return 9
  const found = language.months.findIndex((name) => name === core || (core.length === 3 && name.startsWith(core)))
  return found === -1 ? undefined : found + 1
}

/** "dritte", "dritten", "dritter", "drittes", as the words before and behind ask. */
export const declined = (digits: string, place: Place, language: Language): string => {
  const stem = language.ordinal(digits).replace(/e$/u, "")
  return `${stem}${endingAt(place, language)}`
}

const endingAt = (place: Place, language: Language): string => {
  const noun = nounBehind(place, language)
  const first = firstOfDays(place)
  const [previous, before] = [previousCore(first).toLowerCase(), wordAt(first, -2)?.core ?? ""]
  if (/^(?:dem|den|des|am|im|zum|zur|vom|beim|vorm|alle)$/u.test(previous)) return "en"
  if (previous === "der") return beforeDative.test(before) || feminine.test(noun) ? "en" : "e"
  if (/^(?:die|das|ins|ans)$/u.test(previous)) return "e"
  if (determiners.test(previous)) return endingBehind(previous, noun)
  if (feminine.test(noun)) return /^(?:in|mit|nach|von|vor|zu|seit|aus|bei|ab)$/u.test(previous) ? "er" : "e"
  if (
    prepositions.test(previous) ||
    /^(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|mo|di|mi|do|fr|sa|so)$/u.test(previous)
  )
    return "en"
  return neuter.test(noun) ? "es" : "er"
}

/** Behind "mein", "keine", "jedem": strong where the determiner has no ending. */
const endingBehind = (previous: string, noun: string) => {
  if (
    /(?:em|en|er|es)$/u.test(previous) &&
    !/^(?:unser|euer|jeder|dieser|welcher|jedes|dieses|welches)$/u.test(previous)
  )
    return "en"
  if (/(?:^jede[rs]|^diese[rs]?|^welche[rs]|e)$/u.test(previous)) return "e"
  return neuter.test(noun) ? "es" : "er"
}

/** "der 5. bis 8. Mai", "der 1. und 2. Stock": the noun stands behind the last. */
const nounBehind = (place: Place, language: Language): string => {
  for (let offset = 1; offset < 5; offset += 1) {
    const core = wordAt(place, offset)?.core ?? ""
    if (/^\p{Lu}/u.test(core) || isMonth(core, language)) return core
    if (!/^(?:\d{1,4}|bis|und|oder|zum|\p{Ll}{3,20}en?)$/u.test(core)) return ""
  }
  return ""
}

/** The first of "vom 5. bis 8.", which has the determiner. */
const firstOfDays = (place: Place): Place => {
  const isJoined = /^(?:bis|und|oder)$/u.test(previousCore(place))
  const isDay = /^\d{1,4}$/u.test(wordAt(place, -2)?.core ?? "") && wordAt(place, -2)?.stop === "."
  return isJoined && isDay ? { ...place, at: place.at - 2 } : place
}

/** "am 4.3. um neun", "vom 04.03. bis 08.03.": a day and a month without a year. */
export const shortDate: Kind = (place, language): Said | undefined => {
  const word = wordAt(place)
  const [, day = "", month = ""] = /^(\d{1,2})\.(\d{1,2})$/u.exec(word?.core ?? "") ?? []
  if (word === undefined || day === "" || word.stop === "" || Number(month) > 12 || Number(month) < 1) return undefined
  if (Number(day) > 31 || Number(day) < 1) return undefined
  const text = language.date({ day: Number(day), month: Number(month) }, place)
  const next = wordAt(place, 1)
  return { ...said(text), takesStop: next !== undefined && word.trail === "" && !germanOpeners.has(next.core) }
}

/** "Jan. 2024", "15. Sept. 2024": months that are cut off. */
export const shortMonth: Kind = (place, language) => {
  const word = wordAt(place)
  if (word === undefined || !/^\p{Lu}\p{Ll}{2,3}$/u.test(word.core)) return undefined
  const month = monthNumber(word.core, language)
  const isDated = /^\d{1,2}$/u.test(previousCore(place)) || /^\d{4}$/u.test(wordAt(place, 1)?.core ?? "")
  if (month === undefined || word.core === language.months[month - 1] || !isDated) return undefined
  return { parts: [language.months[month - 1] ?? ""], takesStop: wordAt(place, 1) !== undefined }
}
