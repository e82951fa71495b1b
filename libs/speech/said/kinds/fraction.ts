/** Fractions: by a slash or by a sign of their own, alone or behind a whole number. Pure. */
import type { Kind, Language, Reader } from "../language.ts"
import { readNumber, sayNumber } from "../number.ts"
import { digitByDigit } from "../number.ts"
import { following, type Place, previousCore, said, wordAt } from "../word.ts"
import { unitNamed } from "./unit.ts"

const sloped = /^(\d{1,4})[/\u2044](\d{1,4})$/u
const single = /^(\d{0,6})([\u00bc-\u00be\u2150-\u215e\u2189])$/u

interface Fraction {
  readonly whole: string
  readonly above: string
  readonly below: string
}

const readFraction = (core: string): Fraction | undefined => {
  const [, whole = "", sign = ""] = single.exec(core) ?? []
  const [, above, below] = sloped.exec(sign === "" ? core : sign.normalize("NFKC")) ?? []
  return above === undefined || below === undefined ? undefined : { whole, above, below }
}

export const isProper = ({ above, below }: Pick<Fraction, "above" | "below">): boolean =>
  Number(above) > 0 && Number(below) > 1 && Number(below) <= 100 && Number(above) < Number(below)

export const sayFraction: Reader = (core, language, place) => {
  const fraction = readFraction(core)
  if (fraction === undefined) return rating(core, language)
  if (language.isCounted.test(previousCore(place)) || /^(?:stars?|points?)$/u.test(following(place)?.core ?? ""))
    return ofMany(fraction, language)
  if (isRating(fraction, place, language)) return ofMany(fraction, language, language.words.outOf)
  const isFactor = isMultiplied(place, language) && Number(fraction.below) > 1
  if (!isFactor && (!isProper(fraction) || !isUsual(fraction))) return notAPart(fraction, language)
  const { whole, above, below } = fraction
  const gender = language.genderAt?.(place)
  return whole === "" ? language.fraction(above, below, gender) : language.mixed(whole, above, below, gender)
}

/** "Multiply it by 9/5". */
export const isMultiplied = (place: Place, { isOperation }: Language): boolean =>
  [-2, -3].some((offset) => isOperation?.test(wordAt(place, offset)?.core ?? "") === true)

/** Nobody cuts into elevenths: "9/11" is a day. */
const isUsual = ({ above, below }: Fraction) =>
  Number(below) <= 10 ||
  [12, 16, 32, 64].includes(Number(below)) ||
  (Number(above) < 10 && [20, 24, 50, 60, 100].includes(Number(below)))

/** "24/7", "9/11" and "50/50" are two numbers side by side. */
const notAPart = ({ above, below }: Fraction, language: Language) => {
  if (below.startsWith("0"))
    return `${language.cardinal(above)} ${language.symbols["/"]} ${digitByDigit(below, language)}`
  if (above === below && above === "10") return ofMany({ whole: "", above, below }, language)
  // A pressure of 120/80.
  const between = Number(above) >= 60 ? (language.operators["/"] ?? "") : ""
  return [language.cardinal(above), between, language.cardinal(below)].filter((part) => part !== "").join(" ")
}

/** "4.7/5" */
const rating = (core: string, language: Language) => {
  const [, points = "", of = ""] = /^(\d{1,2}[.,]\d{1,2})\/(5|10|100)$/u.exec(core) ?? []
  const number = readNumber(points, language)
  return number === undefined
    ? undefined
    : `${sayNumber(number, language)} ${language.words.outOf} ${language.cardinal(of)}`
}

/** "Step 1/4" is "one of four", "10/10" "ten out of ten". */
const ofMany = (
  { above, below }: Fraction,
  language: Language,
  of = above === below ? language.words.outOf : language.words.of
) => `${language.cardinal(above)} ${of} ${language.cardinal(below)}`

/** "a solid 8/10", "rated 4/5"; but "7/10 of a mile". */
const isRating = ({ above, below, whole }: Fraction, place: Place, language: Language) =>
  whole === "" &&
  /^(?:5|10|100)$/u.test(below) &&
  Number(above) <= Number(below) &&
  (language.isRating?.test(previousCore(place)) === true ||
    (below === "10" && !/^(?:of|an?$|de|von|di|mile|inch)/u.test(following(place)?.core ?? "")))

/** "2 1/2" is "two and a half". */
export const mixedNumber: Kind = (place, language) => {
  const [word, next] = [wordAt(place), following(place)]
  if (word === undefined || next === undefined || !/^\d{1,6}$/u.test(word.core)) return undefined
  const fraction = readFraction(next.core)
  if (fraction === undefined || fraction.whole !== "" || !isProper(fraction)) return undefined
  const text = language.mixed(
    word.core,
    fraction.above,
    fraction.below,
    language.genderAt?.({ ...place, at: place.at + 1 })
  )
  const first = language.cardinal(word.core)
  const unit = following(place, 2)
  const noun = unit === undefined ? undefined : unitNamed(unit.core, language)
  const parts = text.startsWith(`${first} `) ? [first, text.slice(first.length + 1)] : [text, null]
  return said(...parts, ...(noun === undefined ? [] : [noun.many]))
}
