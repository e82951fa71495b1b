/**
 * The SSML elements that are understood, and what each may carry. Whatever is not here is refused: an `audio`
 * would have the engine open a file, and what an engine ignores a caller would wait for in vain. Prefixed
 * attributes (`xml:lang`, `xmlns:x`, `xsi:schemaLocation`) may stand anywhere and change nothing.
 */

export interface ElementRule {
  /** What may stand inside: text and elements, only text, or nothing. */
  readonly holds: "anything" | "text" | "nothing"
  readonly attributes: ReadonlyArray<string>
  readonly required?: string
}

/** What SSML 1.0 and 1.1 let a document wish of a voice. */
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
  // The voice and its language are the request's: other wishes are read over, and the words are spoken.
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

export const isAllowedAttribute = (rule: ElementRule, name: string): boolean =>
  rule.attributes.includes(name) || name === "xmlns" || name.includes(":")
