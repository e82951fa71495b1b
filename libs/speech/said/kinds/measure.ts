/** Measures: a number with a unit, or with a unit by a unit; counts of thousands and more. Pure. */
import type { Kind, Language, Noun, Reader } from "../language.ts"
import { isOne, readNumber, sayNumber, type WrittenNumber } from "../number.ts"
import { following, mayEndSentence, type Place, previousCore, type Said, said, wordAt } from "../word.ts"
import { sayFraction } from "./fraction.ts"
import { crossed, ofTen, power } from "./math.ts"
import { isBeforeNoun } from "./money.ts"
import { isUncertain, unitNamed } from "./unit.ts"
import { sayPlain } from "./plain.ts"

const measure = /^([+\-−–]?[\d.,'’\u0020\u00a0\u2009\u202f]{1,40})([^\d\s.,'’+−–-][^\s+−–]{0,11})$/u

export const sayMeasure: Reader = (core, language, place) => {
  const [, digits, unit = ""] = measure.exec(core) ?? []
  const number = digits === undefined ? undefined : readNumber(digits.trimEnd(), language)
  if (number === undefined) return adjectival(core, language)
  const magnitude = magnitudeOf(number, unit, place, language)
  if (magnitude !== undefined) return `${sayNumber(number, language)} ${magnitude}`
  if (isLabel(place, number, unit, language)) return undefined
  const noun = unitNamed(unit, language)
  // "180°C/350°F"
  if (noun === undefined && /^\d{1,4}°[CF]\/\d{1,4}°[CF]$/u.test(core))
    return core
      .split("/")
      .map((one) => sayMeasure(one, language, place))
      .join(", ")
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
const magnitudeOf = (number: WrittenNumber, unit: string, place: Place, language: Language) => {
  const isNamed =
    /^(?:k|bn|mn|tn|mio|mrd)$/iu.test(unit) ||
    (/^[MB]$/u.test(unit) && (number.fraction !== "" || isOfThings(place))) ||
    (unit === "M" && number.whole !== "0") ||
    (unit === "m" && language.isCrowd?.(previousCore(place), following(place)?.core ?? "") === true)
  if (!isNamed || (unit === "K" && number.whole.length < 2)) return undefined
  const noun = language.magnitudes[unit.toLowerCase()]
  return noun === undefined ? undefined : isOne(number) ? noun.one : noun.many
}

/** "175B parameters", not "221B Baker Street". */
const isOfThings = (place: Place) => /^\p{Ll}{3,}/u.test(following(place)?.core ?? "")

/** "exit 12A", "room 4F", "12C Elm St": letters of a place; "38C" is a temperature, and "5C" a name. */
const isLabel = (place: Place, { sign, whole }: WrittenNumber, unit: string, language: Language) =>
  /^[A-Z]$/u.test(unit) &&
  (language.isLabelled.test(previousCore(place)) ||
    (/^[CF]$/u.test(unit) &&
      ((sign === "" && whole.length < 2) || /^\p{Lu}\p{Ll}/u.test(following(place)?.core ?? ""))))

const sayCounted = (number: WrittenNumber, noun: Noun, language: Language) => sayNumber(number, language, noun.gender)

const nameFor = (number: WrittenNumber, noun: Noun, place: Place, language: Language) =>
  isOne(number) || isBeforeNoun(place, language) ? noun.one : noun.many

export const measureInWords: Kind = (place, language) => {
  const alone = inFeet(place, language) ?? withoutAmount(place, language)
  if (alone !== undefined) return alone
  const [word, next, third] = [wordAt(place), following(place), following(place, 2)]
  if (word === undefined || next === undefined) return undefined
  const pair = third === undefined ? undefined : language.units.get(`${next.core} ${third.core}`)
  const noun = pair ?? (isUncertain(next, place, language) ? undefined : unitNamed(next.core, language))
  const amount = noun === undefined ? undefined : amountOf(word.core, noun, place, language)
  if (noun === undefined || amount === undefined || (next.core === "m" && isMinute(place))) return undefined
  const name = amount.isOne || isBeforeNoun({ ...place, at: place.at + 1 }, language, -2) ? noun.one : noun.many
  const parts = [amount.text, name, ...(pair === undefined ? [] : [null])]
  const last = { ...place, at: place.at + parts.length - 1 }
  // "45 Min. später"
  const goesOn = /^[([]?$/u.test(wordAt(last, 1)?.lead ?? "-") && !mayEndSentence(last, language.startsSentence)
  return { parts, takesStop: wordAt(last)?.stop === "." && goesOn }
}

const unitsAlone =
  /^(?:[kcmnµμ][mgsl]|mL|lbs?|hr|[kKMGT]B|[kMG]Hz|[kMGT]Wh?|mph|km\/h|m\/s|°[CF])$|^[kcm]?m(?:[²³]|\^?[23])$/u

/** "per kWh", "in ms", "(kg)", "°C": of many, but for what is paid or counted by one. */
const withoutAmount = (place: Place, language: Language): Said | undefined => {
  const { core, lead, trail } = wordAt(place) ?? { core: "", lead: "", trail: "" }
  const previous = core.length < 5 ? previousCore(place) : ""
  const isMany = core.startsWith("°") || previous === "in" || (lead === "(" && trail.startsWith(")"))
  const noun = (isMany || previous === language.per) && unitsAlone.test(core) ? unitNamed(core, language) : undefined
  return noun === undefined ? undefined : said(previous === language.per ? noun.one : noun.many)
}

const isMinute = (place: Place) =>
  /^\d{1,2}h$/u.test(previousCore(place)) || /^\d{1,2}s$/u.test(wordAt(place, 1)?.core ?? "")

/** "1/2" and "½", but neither "2½" nor "120/80". */
const isPart = (core: string) => {
  const [above = 0, below = 0] = core.split("/").map(Number)
  return !/^\d/u.test(core) || above < below
}

interface Amount {
  readonly text: string
  readonly isOne: boolean
}

/** What stands before a unit: a number, "~4", "100 million", "4 by 3", "½", "10^24"; undefined if it is no amount. */
const amountOf = (core: string, noun: Noun, place: Place, language: Language): Amount | undefined => {
  const [, sign = "", rest = core] = /^([~≈±<>≤≥])(.{1,40})$/u.exec(core) ?? []
  const before = sign === "" ? "" : `${sign === "~" ? language.words.about : (language.signs[sign] ?? "")} `
  const number = readNumber(/^\d{1,3}(?:_\d{3}){1,5}$/u.test(rest) ? rest.replaceAll("_", "") : rest, language)
  if (number !== undefined) return { text: `${before}${sayCounted(number, noun, language)}`, isOne: isOne(number) }
  const isCount = language.magnitudes[core] !== undefined && /\d$/u.test(previousCore(place))
  if (isCount) return { text: core, isOne: false }
  const fraction = sayFraction(core, language, place)
  if (fraction !== undefined) return { text: fraction, isOne: isPart(core) }
  const product =
    crossed(core, language, (text) => sayPlain(text, language) ?? text) ??
    power(core, language) ??
    ofTen(core, language)
  return product === undefined ? undefined : { text: product, isOne: false }
}

/** 5'10" is "five foot ten", and 12" "twelve inches": primes, where no quotation is open. */
const inFeet = (place: Place, language: Language): Said | undefined => {
  const word = wordAt(place)
  const [foot, inch] = [language.units.get("ft"), language.units.get("in")]
  if (word === undefined || foot === undefined || inch === undefined || !/^\(?$/u.test(word.lead)) return undefined
  const [, feet, inches] = /^(\d{1,2})['’′](\d{1,2})$/u.exec(word.core) ?? []
  if (feet !== undefined && inches !== undefined) {
    return { parts: [`${language.cardinal(feet)} ${foot.one} ${language.cardinal(inches)}`], isBare: true }
  }
  if (!/^["″]/u.test(word.trail) || isQuoted(place)) return undefined
  const amount = amountOf(word.core, inch, place, language)
  const next = word.trail.length > 1 ? "" : (wordAt(place, 1)?.core ?? "")
  const isAttribute = language.isNoun?.(next) === true || /^\p{Lu}/u.test(next)
  return amount === undefined
    ? undefined
    : { parts: [`${amount.text} ${amount.isOne || isAttribute ? inch.one : inch.many}`], isBare: true }
}

const isQuoted = ({ text, words, at }: Place) =>
  (text.slice(Math.max(0, (words[at]?.index ?? 0) - 400), words[at]?.index).match(/(?<!\d)"/gu)?.length ?? 0) % 2 === 1
