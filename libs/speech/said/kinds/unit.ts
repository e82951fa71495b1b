/** Units as they are written: one of the language, a power of it, or one by another. Pure. */
import type { Language, Noun } from "../language.ts"
import { type Place, previousCore, type Word, wordAt } from "../word.ts"

/** A unit, a power of one, or one by another; undefined if it is none. */
export const unitNamed = (unit: string, language: Language): Noun | undefined => {
  const known = language.units.get(unit)
  if (known !== undefined) return known
  const [, base] = /^(.{1,6}?)(?:²|³|\^2|\^3)$/u.exec(unit) ?? /^([kcm]?m|ft|in|mi|yd)[23]$/u.exec(unit) ?? []
  const ofBase = base === undefined ? undefined : language.units.get(base)
  if (ofBase !== undefined) {
    const raised = /[²2]$/u.test(unit) ? language.words.square : language.words.cubic
    return { ...ofBase, one: raised(ofBase.one), many: raised(ofBase.many) }
  }
  const [above = "", ...below] = unit.split("/")
  // "mg/kg/day": each by the next.
  const under = below.length === 0 || below.length > 2 ? undefined : unitNamed(below.join("/"), language)
  const over =
    language.units.get(above) ??
    (/^(?:\p{Ll}{3,12}|[A-Z]{1,3})$/u.test(above) ? { one: above, many: above } : undefined)
  if (over === undefined || under === undefined) return undefined
  return { ...over, one: `${over.one} ${language.per} ${under.one}`, many: `${over.many} ${language.per} ${under.one}` }
}

/** "in" is a unit behind sides, before a bracket or a mark, or with a stop: "9 x 4 in". */
export const isUncertain = (unit: Word, place: Place, language: Language): boolean => {
  // "221 W 46th St": the letter belongs to what follows.
  if (/^[NSEW]$/u.test(unit.core) && /^(?:\d|\p{Lu}\p{Ll})/u.test(wordAt(place, 2)?.core ?? "")) return true
  // "1.5 A"
  if (/^[AFJNT]$/u.test(unit.core) && /\d\.\d/u.test(wordAt(place)?.core ?? "")) return false
  // "5 ft 10 in"
  if (unit.core === "in" && /^(?:ft|feet|foot)$/u.test(previousCore(place))) return false
  if (unit.core !== "in") return language.uncertainUnits.has(unit.core)
  return !(unit.stop === "." || unit.trail !== "" || /^[x×]$/u.test(previousCore(place)))
}
