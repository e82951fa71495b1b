/**
 * The SSML elements that are understood, and the attributes of each. All others are refused: an `audio` would have the
 * engine open a file, and a caller would wait in vain for the effect of an ignored element. Prefixed attributes
 * (`xml:lang`, `xmlns:x`, `xsi:schemaLocation`) may stand anywhere and change nothing.
 */
import { Result } from "effect"

interface ElementRule {
  /** The allowed content: text and elements, only text, or nothing. */
  readonly holds: "anything" | "text" | "nothing"
  readonly attributes: ReadonlyArray<string>
  readonly required?: string
}

/** The wishes that a document of SSML 1.0 or 1.1 may have of a voice. */
const voiceWishes = ["name", "gender", "age", "variant", "languages", "required", "ordering", "onvoicefailure"]

const rules = new Map<string, ElementRule>([
  ["speak", { holds: "anything", attributes: ["version", "onlangfailure"] }],
  ["p", { holds: "anything", attributes: [] }],
  ["s", { holds: "anything", attributes: [] }],
  ["break", { holds: "nothing", attributes: ["time", "strength"] }],
  ["prosody", { holds: "anything", attributes: ["rate", "pitch", "range", "volume"] }],
  ["emphasis", { holds: "anything", attributes: ["level"] }],
  ["sub", { holds: "text", attributes: ["alias"], required: "alias" }],
  ["say-as", { holds: "text", attributes: ["interpret-as", "format", "detail"], required: "interpret-as" }],
  // The request decides the voice and its language: other wishes are ignored, and the words are spoken.
  ["voice", { holds: "anything", attributes: voiceWishes }],
  ["lang", { holds: "anything", attributes: ["onlangfailure"] }],
  ["mark", { holds: "nothing", attributes: ["name"] }],
  // No engine here reads phonemes: the text is spoken.
  ["phoneme", { holds: "text", attributes: ["alphabet", "ph", "type"] }],
  ["style", { holds: "anything", attributes: ["emotion"], required: "emotion" }]
])

const styleNames = new Set(["speechify:style", "service:style"])

/** `speechify:style` is `style`. */
export const elementName = (name: string): string => (styleNames.has(name) ? "style" : name)

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

/** The length of a `break`. `time` wins over `strength`; more than a minute becomes a minute. */
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
  /** Name of the element around it, empty for the outermost. */
  readonly parent: string
  /** Both count from 1, this element included. */
  readonly depth: number
  readonly elements: number
}

/** The fault of an element, as a sentence; undefined where there is none. */
export const problemOf = ({ attributes, depth, elements, name, parent }: Opened): string | undefined => {
  // Each limit is reported once: an input that exceeds it usually exceeds it by far.
  if (elements === ssmlLimits.elementsMax + 1) return `there are more than ${ssmlLimits.elementsMax} elements`
  if (depth === ssmlLimits.depthMax + 1) return `elements are nested deeper than ${ssmlLimits.depthMax}`
  const rule = findElement(name)
  if (rule === undefined) return unknownElement(name)
  if ((name === "speak") !== (parent === "")) return "<speak> is the outermost element, and only that"
  const outer = findElement(parent)
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
