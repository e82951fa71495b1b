/**
 * The supported SSML elements: the attributes of each, and its effect on the text inside. All others are refused: an
 * `audio` would have the engine open a file, and a caller would wait in vain for the effect of an ignored element.
 * Prefixed attributes (`xml:lang`, `xmlns:x`, `xsi:schemaLocation`) are allowed anywhere and change nothing. Pure.
 */
import { Result } from "effect"
import { rewritesOf } from "../said/say-as.ts"
import { type PhonemesRead, readIpa, readXSampa } from "../phonemes/ipa.ts"
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

interface ElementRule {
  /** The allowed content: text and elements, only text, nothing, or any XML, which is not spoken. */
  readonly holds: "anything" | "text" | "nothing" | "data"
  readonly attributes: ReadonlyArray<string>
  readonly required?: string
}

/** What a document of SSML 1.0 or 1.1 can request of a voice. */
const voiceWishes = [
  "name",
  "gender",
  "age",
  "variant",
  "languages",
  "required",
  "ordering",
  "onvoicefailure",
  "onlangfailure"
]

const rules = new Map<string, ElementRule>([
  ["speak", { holds: "anything", attributes: ["version", "onlangfailure"] }],
  ["p", { holds: "anything", attributes: ["onlangfailure"] }],
  ["s", { holds: "anything", attributes: ["onlangfailure"] }],
  ["token", { holds: "anything", attributes: ["role", "onlangfailure"] }],
  ["w", { holds: "anything", attributes: ["role", "onlangfailure"] }],
  ["meta", { holds: "nothing", attributes: ["name", "http-equiv", "content"], required: "content" }],
  ["metadata", { holds: "data", attributes: [] }],
  ["break", { holds: "nothing", attributes: ["time", "strength"] }],
  ["prosody", { holds: "anything", attributes: ["rate", "pitch", "range", "volume"] }],
  ["emphasis", { holds: "anything", attributes: ["level"] }],
  ["sub", { holds: "text", attributes: ["alias"], required: "alias" }],
  ["say-as", { holds: "text", attributes: ["interpret-as", "format", "detail"], required: "interpret-as" }],
  // The request decides the voice and its language: other requests are ignored, and the words are spoken.
  ["voice", { holds: "anything", attributes: voiceWishes }],
  ["lang", { holds: "anything", attributes: ["onlangfailure"] }],
  ["mark", { holds: "nothing", attributes: ["name"] }],
  ["phoneme", { holds: "text", attributes: ["alphabet", "ph", "type"], required: "ph" }],
  ["style", { holds: "anything", attributes: ["emotion"], required: "emotion" }]
])

const styleNames = new Set(["speechify:style", "service:style"])

const namespace = "http://www.w3.org/2001/10/synthesis"

/** The prefix, with its colon, of a root element that declares one for SSML's namespace; else empty. */
export const prefixOf = (root: string, attributes: Readonly<Record<string, string>>): string => {
  const prefix = root.slice(0, root.indexOf(":") + 1)
  return prefix !== "" && attributes[`xmlns:${prefix.slice(0, -1)}`] === namespace ? prefix : ""
}

/** `speechify:style` is `style`, and so is each name of SSML under the document's prefix. */
export const elementName = (name: string, prefix: string): string => {
  if (styleNames.has(name)) return "style"
  return prefix !== "" && name.startsWith(prefix) ? name.slice(prefix.length) : name
}

export const findElement = (name: string): ElementRule | undefined => rules.get(name)

const isAllowedAttribute = (rule: ElementRule, name: string): boolean =>
  rule.attributes.includes(name) || name === "xmlns" || name.includes(":")

export const breakMillisecondsMax = 60_000

const strengths: Readonly<Record<string, number>> = {
  none: 0,
  "x-weak": 100,
  weak: 250,
  medium: 500,
  strong: 900,
  "x-strong": 1_400
}

const duration = /^\+?(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})(ms|s)$/u

/** The length of a `break`. `time` overrides `strength`; more than a minute becomes a minute. */
export const readBreak = (attributes: Readonly<Record<string, string>>): Result.Result<number, string> => {
  const { strength = "medium", time } = attributes
  const least = Object.hasOwn(strengths, strength) ? strengths[strength] : undefined
  if (least === undefined) return Result.fail(`break strength "${strength.slice(0, 40)}" is not known`)
  if (time === undefined) return Result.succeed(least)
  const [, digits, unit] = duration.exec(time.trim().toLowerCase()) ?? []
  if (digits === undefined) return Result.fail(`break time "${time.slice(0, 40)}" is not a time such as 500ms or 2s`)
  const milliseconds = Math.round(Number(digits) * (unit === "s" ? 1_000 : 1))
  return Result.succeed(Math.min(breakMillisecondsMax, milliseconds))
}

export const ssmlLimits = {
  depthMax: 20,
  /** One element for ten characters of the longest input. */
  elementsMax: 2_000,
  attributesMax: 12,
  breakMillisecondsMax,
  /** All breaks of an input together. */
  silenceMillisecondsMax: 600_000,
  /** The content of sub and say-as, and an alias: each is one word. */
  wordCharactersMax: 400,
  faultsMax: 10
}

interface Opened {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** The name of the enclosing element, empty for the outermost. */
  readonly parent: string
  /** Both count from 1, including this element. */
  readonly depth: number
  readonly elements: number
}

/** The fault of an element, as a sentence; undefined if there is none. */
export const problemOf = ({ attributes, depth, elements, name, parent }: Opened): string | undefined => {
  // Each limit is reported once: an input that exceeds it usually exceeds it by far.
  if (elements === ssmlLimits.elementsMax + 1) return `there are more than ${ssmlLimits.elementsMax} elements`
  if (depth === ssmlLimits.depthMax + 1) return `elements are nested deeper than ${ssmlLimits.depthMax}`
  const rule = findElement(name)
  if (rule === undefined) return unknownElement(name)
  if ((name === "speak") !== (parent === "")) return "<speak> is the outermost element, and only that"
  const outer = findElement(parent)
  if (outer?.holds === "data") return undefined
  if (outer !== undefined && outer.holds !== "anything") return `<${parent}> holds no elements`
  const names = Object.keys(attributes)
  if (names.length > ssmlLimits.attributesMax) return `<${name}> has too many attributes`
  const odd = names.find((attribute) => !isAllowedAttribute(rule, attribute))
  if (odd !== undefined) return `<${name}> has no attribute ${odd.slice(0, 40)}`
  const isLacking = rule.required !== undefined && attributes[rule.required] === undefined
  return isLacking ? `<${name}> lacks its attribute ${rule.required}` : undefined
}

const unknownElement = (name: string) => {
  const lower = name.toLowerCase()
  const hint = findElement(lower) === undefined ? "" : `; write <${lower}>`
  return `<${name.slice(0, 40)}> is not supported${hint}`
}

export interface OpenElement {
  readonly name: string
  readonly prosody: Style
  readonly emotion: Emotion | null
  readonly emphasis: Emphasis | null
  /** The text's language, if another voice speaks it. */
  readonly language: string | null
  /** It is metadata, or no voice speaks its language and the document asks to skip it. */
  readonly isLeftOut: boolean
  /** What the document asks for if no voice speaks a language. */
  readonly onFailure: string
  /** All three together. */
  readonly style: Style
  /** The text that is spoken instead of the content of sub and say-as. */
  readonly rewrite: ((content: string) => string) | null
  /** How the content should sound, in canonical IPA. */
  readonly ipa: string | null
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
  ipa: null,
  language: null,
  isLeftOut: false,
  onFailure: "processorchoice",
  contentStart: 0,
  tagStart: 0
}

interface StartTag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly tagStart: number
  readonly tagEnd: number
}

type Change = Partial<
  Pick<OpenElement, "prosody" | "emotion" | "emphasis" | "rewrite" | "ipa" | "language" | "isLeftOut" | "onFailure">
>

/**
 * The effect of an open SSML element on the text inside it. Pure: it follows from the element and the one around it. An
 * inner emotion or emphasis replaces the outer one; prosody multiplies.
 */
export const openElement = (outer: OpenElement, tag: StartTag, tongue: Tongue): Result.Result<OpenElement, string> =>
  Result.map(changeOf(outer, tag, tongue), (change) => {
    const {
      emotion = outer.emotion,
      emphasis = outer.emphasis,
      prosody = outer.prosody,
      rewrite = null,
      ipa = null,
      language = outer.language,
      isLeftOut = outer.isLeftOut,
      onFailure = outer.onFailure
    } = change
    const isSame = emotion === outer.emotion && emphasis === outer.emphasis && prosody === outer.prosody
    return {
      name: tag.name,
      prosody,
      emotion,
      emphasis,
      rewrite,
      ipa,
      language,
      isLeftOut,
      onFailure,
      style: isSame ? outer.style : styleOf(prosody, emotion, emphasis),
      contentStart: tag.tagEnd,
      tagStart: tag.tagStart
    }
  })

const changeOf = (
  outer: OpenElement,
  { name, attributes }: StartTag,
  tongue: Tongue
): Result.Result<Change, string> => {
  if (name === "speak") return failureOf(attributes)
  if (name === "lang")
    return Result.flatMap(failureOf(attributes), ({ onFailure = outer.onFailure }) =>
      languageOf(onFailure, attributes, tongue)
    )
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
    const rewrite = rewritesOf(kind, attributes["format"] ?? "", localeOf(tongue, outer.language))
    return rewrite === undefined ? unknown("interpret-as", kind) : Result.succeed({ rewrite })
  }
  if (name === "phoneme") return phonemesOf(attributes)
  if (name === "metadata") return Result.succeed({ isLeftOut: true })
  return Result.succeed({})
}

const alphabets: Readonly<Record<string, (ph: string) => PhonemesRead>> = { ipa: readIpa, "x-sampa": readXSampa }

const phonemesOf = ({ alphabet = "ipa", ph = "" }: Readonly<Record<string, string>>): Result.Result<Change, string> => {
  const name = alphabet.toLowerCase()
  const readPhonemes = Object.hasOwn(alphabets, name) ? alphabets[name] : undefined
  if (readPhonemes === undefined) return unknown("phoneme alphabet", alphabet)
  if (ph.length > ssmlLimits.wordCharactersMax) {
    return Result.fail(`phoneme ph is longer than ${ssmlLimits.wordCharactersMax} characters`)
  }
  const read = readPhonemes(ph)
  if ("ipa" in read) return Result.succeed({ ipa: read.ipa, rewrite: (content) => content || ph })
  return Result.fail(`phoneme ph "${ph.slice(0, 40)}" cannot be read: ${read.fault} (character ${read.at})`)
}

/** The language of an input, and those that other voices speak, as written in the document. */
export interface Tongue {
  readonly locale: string
  /** Absent if one voice speaks everything. `isOwn`: it is the voice's own language. */
  readonly others?: ReadonlyMap<string, { readonly locale: string; readonly isOwn: boolean }>
}

/** The locale in which a language is spoken; without one, the voice's own. */
export const localeOf = ({ locale, others }: Tongue, language: string | null | undefined): string =>
  others?.get(language ?? "")?.locale ?? locale

const failures = ["changevoice", "ignoretext", "ignorelang", "processorchoice"]

const failureOf = ({ onlangfailure }: Readonly<Record<string, string>>): Result.Result<Change, string> => {
  if (onlangfailure === undefined) return Result.succeed({})
  return failures.includes(onlangfailure)
    ? Result.succeed({ onFailure: onlangfailure })
    : unknown("onlangfailure", onlangfailure)
}

const languageOf = (
  onFailure: string,
  { "xml:lang": language }: Readonly<Record<string, string>>,
  { others }: Tongue
): Result.Result<Change, string> => {
  if (language === undefined || others === undefined) return Result.succeed({ onFailure })
  const other = others.get(language)
  if (other !== undefined)
    return Result.succeed({ onFailure, language: other.isOwn ? null : language, isLeftOut: false })
  if (onFailure === "ignoretext") return Result.succeed({ onFailure, isLeftOut: true })
  if (onFailure === "ignorelang") return Result.succeed({ onFailure })
  return Result.fail(`no voice speaks "${language.slice(0, 40)}"`)
}

const unknown = (what: string, value: string) => Result.fail(`${what} "${value.slice(0, 40)}" is not known`)
