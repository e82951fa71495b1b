/** The effect of an open SSML element on the text inside it. Pure: it follows from the element and the one around it. */
import { Result } from "effect"
import {
  combineStyles,
  type Emotion,
  type Emphasis,
  isEmotion,
  isEmphasis,
  plainStyle,
  readProsody,
  type Style,
  styleOf
} from "../text/style.ts"
import { isMonthFirst, readDate, readTime, spokenDate } from "../english/dates.ts"
import { isEnglish } from "../english/normalise.ts"
import { cardinal, decimal, ordinal } from "../english/numbers.ts"
import { symbolName } from "../english/symbols.ts"
import { readMeasure } from "../english/units.ts"

export interface OpenElement {
  readonly name: string
  readonly prosody: Style
  readonly emotion: Emotion | null
  readonly emphasis: Emphasis | null
  /** All three together. */
  readonly style: Style
  /** The text that is spoken instead of the content of sub and say-as. */
  readonly rewrite: ((content: string) => string) | null
  /** The first unit after the start tag, and that of the tag itself. */
  readonly contentStart: number
  readonly tagStart: number
}

/** Around the outermost element. */
export const noElement: OpenElement = {
  name: "",
  prosody: plainStyle,
  emotion: null,
  emphasis: null,
  style: plainStyle,
  rewrite: null,
  contentStart: 0,
  tagStart: 0
}

interface StartTag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly tagStart: number
  readonly tagEnd: number
}

type Change = Partial<Pick<OpenElement, "prosody" | "emotion" | "emphasis" | "rewrite">>

/** An inner emotion or emphasis replaces the outer one; prosody multiplies. */
export const openElement = (outer: OpenElement, tag: StartTag, locale: string): Result.Result<OpenElement, string> =>
  Result.map(changeOf(outer, tag, locale), (change) => {
    const { emotion = outer.emotion, emphasis = outer.emphasis, prosody = outer.prosody, rewrite = null } = change
    const isSame = emotion === outer.emotion && emphasis === outer.emphasis && prosody === outer.prosody
    return {
      name: tag.name,
      prosody,
      emotion,
      emphasis,
      rewrite,
      style: isSame ? outer.style : styleOf(prosody, emotion, emphasis),
      contentStart: tag.tagEnd,
      tagStart: tag.tagStart
    }
  })

const changeOf = (
  outer: OpenElement,
  { name, attributes }: StartTag,
  locale: string
): Result.Result<Change, string> => {
  if (name === "prosody") {
    return Result.map(readProsody(attributes), (inner) => ({ prosody: combineStyles(outer.prosody, inner) }))
  }
  if (name === "emphasis") {
    const level = attributes["level"] ?? "moderate"
    return isEmphasis(level) ? Result.succeed({ emphasis: level }) : unknown("emphasis level", level)
  }
  if (name === "style") {
    const emotion = attributes["emotion"] ?? ""
    return isEmotion(emotion) ? Result.succeed({ emotion }) : unknown("emotion", emotion)
  }
  if (name === "sub") return Result.succeed({ rewrite: () => attributes["alias"] ?? "" })
  if (name === "say-as") {
    const kind = attributes["interpret-as"] ?? ""
    const rewrite = rewritesOf(kind, attributes["format"] ?? "", locale)
    return rewrite === undefined ? unknown("interpret-as", kind) : Result.succeed({ rewrite })
  }
  return Result.succeed({})
}

const unknown = (what: string, value: string) => Result.fail(`${what} "${value.slice(0, 40)}" is not known`)

type Rewrite = (content: string) => string

/** Undefined for an unknown kind. */
/**
 * The text that an engine gets for each kind of `say-as`. Content that engines read right on their own stays as it is.
 * Words are made for English only, letters and digits for every language.
 */
const rewritesOf = (kind: string, format: string, locale: string): Rewrite | undefined => {
  const english = isEnglish(locale)
  const inEnglish =
    (read: (content: string) => string | undefined): Rewrite =>
    (content) =>
      (english ? read(content) : undefined) ?? content
  const kinds: Readonly<Record<string, Rewrite>> = {
    characters: spelled(english),
    "spell-out": spelled(english),
    digits: digitsApart,
    telephone: telephone(english),
    cardinal: inEnglish(readCardinal),
    number: inEnglish(readCardinal),
    ordinal: english ? readOrdinal : (content) => ordinalSign(content, locale),
    date: inEnglish((content) => readFormattedDate(content, format) ?? readDate(content, isMonthFirst(locale))),
    time: inEnglish((content) => readTime(content.replaceAll(" ", ""))),
    unit: inEnglish((content) => readMeasure(content.replaceAll(" ", "")))
  }
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}

// In capitals, so that a lone "a" is the letter and not the article.
const spelled =
  (english: boolean): Rewrite =>
  (content) =>
    Array.from(content.replaceAll(" ", ""), (character) => {
      const upper = character.toUpperCase()
      return (english ? symbolName(character) : undefined) ?? (upper.length === character.length ? upper : character)
    }).join(" ")

const digitsApart: Rewrite = (content) => Array.from(content.replaceAll(/\P{Nd}/gu, "")).join(" ") || content

/** Commas keep the groups apart, because engines rest there. */
const telephone =
  (english: boolean): Rewrite =>
  (content) => {
    const groups = content.split(/[^\p{Nd}+]/u).filter((group) => group !== "")
    const plus = english ? "plus" : "+"
    const spoken = groups.map((group) => Array.from(group, (digit) => (digit === "+" ? plus : digit)).join(" "))
    return spoken.join(", ") || content
  }

const number = /^[+−-]?\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,20})?$|^[+−-]?\d{1,40}(?:\.\d{1,20})?$/u

const readCardinal = (content: string) => (number.test(content) ? decimal(content) : undefined)

const readOrdinal: Rewrite = (content) => {
  const [, digits] = /^(\d{1,15})(?:st|nd|rd|th|\.)?$/iu.exec(content) ?? []
  return digits === undefined ? content : ordinal(digits)
}

const ordinalSigns: Readonly<Record<string, string>> = { de: ".", fr: "e", es: "º", it: "º", pt: "º" }

const ordinalSign = (content: string, locale: string) => {
  const sign = ordinalSigns[locale.slice(0, 2).toLowerCase()]
  return sign !== undefined && /^\d{1,15}$/u.test(content) ? `${content}${sign}` : content
}

/** Reads a date by the letters of `format`, such as "mdy" or "ym": each letter takes the next number. */
const readFormattedDate = (content: string, format: string) => {
  const letters = format.toLowerCase()
  const numbers = content.split(/\D/u).filter((part) => part !== "")
  if (!/^[dmy]{1,3}$/u.test(letters) || new Set(letters).size !== letters.length) return undefined
  if (letters.length !== numbers.length || numbers.some((part) => part.length > 4)) return undefined
  const part = (letter: string) => numbers[letters.indexOf(letter)]
  const [day, month, year] = [part("d"), part("m"), part("y")]
  if (letters === "d") return cardinal(day ?? "")
  return spokenDate({
    day: day === undefined ? undefined : Number(day),
    month: month === undefined ? undefined : Number(month),
    year
  })
}
