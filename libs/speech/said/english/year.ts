/** English years and decades, by the words around four digits. Pure. */
import type { Kind, Language } from "../language.ts"
import { readNumber } from "../number.ts"
import { following, previousCore, said, wordAt } from "../word.ts"
import { isMonth } from "./calendar.ts"
import { inPairs } from "./digits.ts"
import { isYear } from "../kinds/range.ts"

const before = new Set(
  (
    "in since until till from by during of year years before after circa around early late mid spring summer fall autumn " +
    "winter between copyright © est established founded born died fy christmas q1 q2 q3 q4 h1 h2 pre post"
  ).split(" ")
)
const behind = new Set(
  (
    "election elections season census olympics world edition model film movie book novel album war revolution budget report " +
    "bc ad bce ce levels figures prices dollars standards vintage act census crisis championship tournament"
  ).split(" ")
)

export const yearInWords: Kind = (place, language) => {
  const word = wordAt(place)
  const era = wordAt(place, 1)?.core ?? ""
  const short = /^(?:A\.?D|B\.?C(?:\.?E)?|C\.?E)$/u.test(era) ? /^\d{3}$/u.exec(word?.core ?? "")?.[0] : undefined
  if (short !== undefined) return said(inPairs(short, language.cardinal))
  const [, ofCentury] = /^['’‘](\d{2})$/u.exec(word?.core ?? "") ?? []
  if (ofCentury !== undefined) return said(language.year(ofCentury))
  if (word === undefined || !/^\d{4}(?:['’]s)?$/u.test(word.core) || !isYear(word.core.slice(0, 4))) return undefined
  const digits = word.core.slice(0, 4)
  const tail = word.core.length > 4 ? "'s" : ""
  if (tail !== "") return said(`${language.year(digits)}${tail}`)
  const previous = previousCore(place).toLowerCase()
  const next = following(place)?.core ?? ""
  const isCounted = /^\p{Ll}{2,}s$/u.test(next) && !behind.has(next)
  const isRecent = /^(?:19|20)/u.test(digits)
  if (isMonth(previous) || behind.has(next.toLowerCase())) return said(language.year(digits))
  if (before.has(previous) && !isCounted && language.units.get(next) === undefined) return said(language.year(digits))
  // "2022: $3.9 bn"
  const isOfDate = isRecent && (word.trail.startsWith(":") || (place.at === 0 && word.trail.startsWith(",")))
  if (isOfDate) return said(language.year(digits))
  const isPair =
    previous === "and" && isYear(wordAt(place, -2)?.core ?? "") && /^between$/iu.test(wordAt(place, -3)?.core ?? "")
  if (isPair) return said(language.year(digits))
  const isLast = wordAt(place, 1) === undefined || word.stop !== ""
  // "(Lee, 2020; Wang et al., 2021)"
  const isByName = /^[);,]/u.test(word.trail) && /^\p{Lu}|^al$/u.test(previousCore(place))
  const isCited = wordAt(place, -1)?.trail.endsWith(",") === true && (isLast || isByName) && isRecent
  const isNamed =
    /^(?:the|an?|this|last|his|her|its|our|their|my|your)$|['’]s?$/u.test(previous) &&
    /^(?:19[3-9]|20[0-2])/u.test(digits) &&
    (language.isNoun?.(next) === true || /^\p{Lu}\p{Ll}/u.test(next)) &&
    !isCounted
  const isCompared = previous === "than" && /^(?:earlier|later|sooner)$/u.test(wordAt(place, -2)?.core ?? "")
  if (isCited || isNamed || isCompared) return said(language.year(digits))
  const isPredicate = /^(?:was|is)$/u.test(previous) && isRecent && isLast
  if (isPredicate) return said(language.year(digits))
  const isAlone = word.lead.includes("(") && word.trail.includes(")")
  const isDated = /^\d{1,2}(?:st|nd|rd|th)?$/u.test(previous) && isMonth(wordAt(place, -2)?.core ?? "")
  return isAlone || isDated ? said(language.year(digits)) : undefined
}

/** "1980s" is "nineteen eighties", "'90s" "nineties", "747s" "seven forty-sevens". */
export const decade: Kind = (place, language) => {
  const word = wordAt(place)
  const [, people] = /^(\d{1,3})ers$/u.exec(word?.core ?? "") ?? []
  if (people !== undefined) return said(`${language.cardinal(people).replace(/e$/u, "")}ers`)
  const [, parts] = /^(\d{1,3}(?:th|rd))s$/u.exec(word?.core ?? "") ?? []
  if (parts !== undefined) return said(`${language.ordinal(parts.slice(0, -2))}s`)
  const [, apostrophe = "", digits = "", mark = ""] = /^(['’‘]?)(\d{1,4})(['’]?)s$/u.exec(word?.core ?? "") ?? []
  if (word === undefined || digits === "") return undefined
  if (digits.length === 2) return decadeOfCentury(digits, apostrophe, mark, previousCore(place).toLowerCase(), language)
  const name = decadeName(word.core, language)
  if (name !== undefined) return said(name)
  if (digits.length !== 3) return undefined
  const number = readNumber(digits, language)
  if (number === undefined || previousCore(place) === "in") return undefined
  return said(pluralOf(digits.endsWith("00") ? language.cardinal(digits) : inPairs(digits, language.cardinal)))
}

/** "1980s", "100s"; undefined for what may be seconds. */
export const decadeName = (core: string, language: Language): string | undefined => {
  const [, digits = ""] = /^(\d{3,4})['’]?s$/u.exec(core) ?? []
  if (isYear(digits)) return pluralOf(yearName(digits, language))
  return /^10{2,3}$/u.test(digits) ? pluralOf(language.cardinal(digits).replace(/^one /u, "")) : undefined
}

const yearName = (digits: string, language: Language) => (digits === "2000" ? "two thousand" : language.year(digits))

const decadeWords = new Set(
  "the early late mid mid- his her their my your our high low upper lower to swinging roaring".split(" ")
)

/** "in the 80s" is a decade, "80s" alone a time. */
const decadeOfCentury = (digits: string, apostrophe: string, mark: string, previous: string, language: Language) => {
  if (!digits.endsWith("0") || digits === "00") return undefined
  if (apostrophe === "" && mark === "" && !decadeWords.has(previous)) return undefined
  return said(pluralOf(language.cardinal(digits)))
}

export const pluralOf = (name: string): string => {
  if (name.endsWith("y")) return `${name.slice(0, -1)}ies`
  return /(?:x|s)$/u.test(name) ? `${name}es` : `${name}s`
}
