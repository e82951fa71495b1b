/** English compounds with a number in them: "19th-century", "mid-1980s", "5-year-old". Pure. */
import { sayPlain } from "../kinds/plain.ts"
import { isYear } from "../kinds/range.ts"
import type { Kind, Language } from "../language.ts"
import { said, wordAt } from "../word.ts"
import { digitByDigit } from "../number.ts"
import { inPairs } from "./digits.ts"
import { decadeName, pluralOf } from "./year.ts"

/** Each part between hyphens is said by itself. */
export const compound: Kind = (place, language) => {
  const core = wordAt(place)?.core ?? ""
  const amount = perTime(core, language)
  if (amount !== undefined) return said(amount)
  if (
    core.length > 60 ||
    !/\d/u.test(core) ||
    !/\p{L}/u.test(core) ||
    !/^[\p{L}\d.,'’]+(?:[-–][\p{L}\d.,'’]+)+$/u.test(core)
  )
    return undefined
  const written = core.split(/[-–]/u)
  const isDecades = written.length === 2 && written.every((part) => /^\d{2,4}s$/u.test(part))
  const isName = /^\p{Lu}{1,4}$/u.test(written[0] ?? "")
  const isRange = isDecades || (written.length === 2 && written.every((part) => /^\d{1,2}(?:st|nd|rd|th)$/u.test(part)))
  // "10W-30" is an oil, "F-150" a car.
  const [, grade] = /^(\d{1,2})W$/u.exec(written[0] ?? "") ?? []
  const parts = written.map((part, at) =>
    at === 1 && isName && /^\d{3,4}$/u.test(part) && !isYear(part)
      ? inPairs(part, language.cardinal)
      : at === 0 && grade !== undefined
        ? `${language.cardinal(grade)} W`
        : partOf(part, language, at > 0 && at === written.length - 1)
  )
  if (parts.includes(undefined)) return undefined
  // A unit's full stop: "a 7-pt. scale".
  const takesStop = language.units.has(written.at(-1) ?? "") && wordAt(place, 1) !== undefined
  return { parts: [parts.join(isRange ? " to " : "-")], takesStop }
}

/** "$2-a-day" is "two-dollar-a-day", "$3-million" "three-million-dollar". */
const perTime = (core: string, language: Language) => {
  const [, sign = "", digits = "", rest = ""] =
    /^([$€£])(\d[\d.,]{0,8})-(an?-\p{Ll}{3,8}|per-\p{Ll}{3,8}|[mbt]r?illion)$/u.exec(core) ?? []
  const noun = language.currencies[{ $: "USD", "€": "EUR", "£": "GBP" }[sign] ?? ""]?.one
  const amount = noun === undefined ? undefined : sayPlain(digits, language)
  return amount === undefined
    ? undefined
    : rest.endsWith("illion")
      ? `${amount}-${rest}-${noun}`
      : `${amount}-${noun}-${rest}`
}

const partOf = (part: string, language: Language, isLast: boolean): string | undefined => {
  // "12-oz", "15-min"
  if (isLast && part === "pt") return "point"
  if (isLast && /^(?:\p{Ll}{1,4}|[A-Z]{1,2})$/u.test(part) && language.units.has(part) && !/^[A-Zasd]$/u.test(part))
    return language.units.get(part)?.one
  if (!/\d/u.test(part))
    return /^\p{Lu}{1,3}$/u.test(part) && language.acronyms?.has(part) !== true ? Array.from(part).join(" ") : part
  if (isYear(part)) return language.year(part)
  if (/^\d{5,}$/u.test(part)) return digitByDigit(part, language)
  if (/^\d0s$/u.test(part)) return pluralOf(language.cardinal(part.slice(0, 2)))
  return decadeName(part, language) ?? sayPlain(part, language)
}
