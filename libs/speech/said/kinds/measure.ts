/** Measures: a number with a unit, or with a unit by a unit; counts of thousands and more. Pure. */
import type { Kind, Language, Noun, Reader } from "../language.ts"
import { isOne, readNumber, sayNumber, type WrittenNumber } from "../number.ts"
import { following, type Place, previousCore, said, type Said, wordAt } from "../word.ts"
import { crossed } from "./math.ts"
import { isBeforeNoun } from "./money.ts"
import { sayPlain } from "./plain.ts"

const measure = /^([+\-−–]?[\d.,'’\u0020\u00a0\u2009\u202f]{1,40})([^\d\s.,'’+−–-][^\s+−–]{0,11})$/u

export const sayMeasure: Reader = (core, language, place) => {
  const [, digits, unit = ""] = measure.exec(core) ?? []
  const number = digits === undefined ? undefined : readNumber(digits.trimEnd(), language)
  if (number === undefined) return adjectival(core, language)
  const magnitude = magnitudeOf(number, unit, language)
  if (magnitude !== undefined) return `${sayNumber(number, language)} ${magnitude}`
  if (isLabel(place, unit, language)) return undefined
  const noun = unitNamed(unit, language)
  return noun === undefined
    ? undefined
    : `${sayCounted(number, noun, language)} ${nameFor(number, noun, place, language)}`
}

/** "5-km" is "five-kilometer". */
const adjectival = (core: string, language: Language) => {
  const [, digits = "", unit = ""] = /^(\d[\d.,]{0,12})-(\p{L}{1,5})$/u.exec(core) ?? []
  const [number, noun] = [readNumber(digits, language), unit === "in" ? undefined : language.units.get(unit)]
  return number === undefined || noun === undefined ? undefined : `${sayCounted(number, noun, language)} ${noun.one}`
}

/** "10k", "1.5M", "2.3bn"; but "4K" and "2B" are names. */
const magnitudeOf = (number: WrittenNumber, unit: string, language: Language) => {
  const isNamed =
    /^(?:k|bn|mn|tn|mio|mrd)$/iu.test(unit) ||
    (/^[MB]$/u.test(unit) && number.fraction !== "") ||
    (unit === "M" && number.whole !== "0")
  if (!isNamed || (unit === "K" && number.whole.length < 2)) return undefined
  const noun = language.magnitudes[unit.toLowerCase()]
  return noun === undefined ? undefined : isOne(number) ? noun.one : noun.many
}

/** "exit 12A", "room 4F": letters of a place. */
const isLabel = (place: Place, unit: string, language: Language) =>
  /^[A-Z]$/u.test(unit) && language.isLabelled.test(previousCore(place))

const sayCounted = (number: WrittenNumber, noun: Noun, language: Language) => sayNumber(number, language, noun.gender)

const nameFor = (number: WrittenNumber, noun: Noun, place: Place, language: Language) =>
  isOne(number) || isBeforeNoun(place, language) ? noun.one : noun.many

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
  const [above = "", below = "", ...more] = unit.split("/")
  const [over, under] = [language.units.get(above), below === "" ? undefined : unitNamed(below, language)]
  if (over === undefined || under === undefined || more.length > 0) return undefined
  return { ...over, one: `${over.one} ${language.per} ${under.one}`, many: `${over.many} ${language.per} ${under.one}` }
}

/** A letter or two may be words of their own: "5 A", "3 in", "I have 5 a". */
const uncertain = new Set("a A s S in In IN h H t T d D C F K k M B G e x".split(" "))

export const measureInWords: Kind = (place, language) => {
  const [word, next] = [wordAt(place), following(place)]
  if (word === undefined) return undefined
  const feet = inFeet(place, language)
  if (feet !== undefined) return feet
  if (next === undefined) return undefined
  const number = readNumber(word.core, language)
  if (number === undefined) return unitApart(place, language)
  const isStopped = next.core === "in" && next.stop === "."
  const pair = language.units.get(`${next.core} ${following(place, 2)?.core ?? ""}`)
  if (pair !== undefined) return said(sayCounted(number, pair, language), nameFor(number, pair, place, language), null)
  const noun = uncertain.has(next.core) && !isStopped ? undefined : unitNamed(next.core, language)
  if (noun === undefined || (isMinute(place) && next.core === "m")) return undefined
  return {
    ...said(sayCounted(number, noun, language), nameFor(number, noun, place, language)),
    takesStop: isStopped && following(place, 1) !== wordAt(place, place.words.length)
  }
}

const isMinute = (place: Place) => /^\d{1,2}h$/u.test(previousCore(place))

/** "4 1/2 lbs", "100 million kg": the unit stands behind what is said already. */
const unitApart = (place: Place, language: Language): Said | undefined => {
  const next = following(place)
  const word = wordAt(place)?.core ?? ""
  const isCount = language.magnitudes[word] !== undefined && /\d$/u.test(previousCore(place))
  const area = crossed(word, language, (text) => sayPlain(text, language) ?? text)
  const noun = next === undefined || (!isCount && area === undefined) ? undefined : unitNamed(next.core, language)
  return noun === undefined ? undefined : said(area ?? word, noun.many)
}

/** 5'10" is "five foot ten", and 12" "twelve inches": primes, where no quotation is open. */
const inFeet = (place: Place, language: Language): Said | undefined => {
  const word = wordAt(place)
  const [foot, inch] = [language.units.get("ft"), language.units.get("in")]
  if (word === undefined || foot === undefined || inch === undefined || word.lead !== "") return undefined
  const [, feet, inches] = /^(\d{1,2})['’′](\d{1,2})$/u.exec(word.core) ?? []
  if (feet !== undefined && inches !== undefined) {
    return { parts: [`${language.cardinal(feet)} ${foot.one} ${language.cardinal(inches)}`], isBare: true }
  }
  const number = /^["″]/u.test(word.trail) && !isQuoted(place) ? readNumber(word.core, language) : undefined
  return number === undefined
    ? undefined
    : { parts: [`${sayNumber(number, language)} ${nameFor(number, inch, place, language)}`], isBare: true }
}

const isQuoted = ({ text, words, at }: Place) =>
  (text.slice(Math.max(0, (words[at]?.index ?? 0) - 400), words[at]?.index).match(/"/gu)?.length ?? 0) % 2 === 1
