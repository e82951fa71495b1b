/**
 * Tags that vendors have in plain text, as SSML of ours: pauses, spelling, pronunciation, pace and loudness. All other
 * signs stay text. Pure.
 */
import type { WordMark } from "#speech/contract"

/** A tag by its name; `isEnd` of `</name>`. */
interface Tag {
  readonly name: string
  readonly isEnd: boolean
  readonly attributes: Readonly<Record<string, string>>
}

/** What is open, of what may be. */
interface Open {
  readonly prosody: Readonly<Record<string, string>>
  readonly element: string | undefined
}

interface Written {
  readonly ssml: string
  readonly open: Open
}

const nothingOpen: Open = { prosody: {}, element: undefined }

export interface VendorTags {
  /** Where one begins or ends, with its name. */
  readonly form: RegExp
  /** The tag as SSML; nothing of one that is taken and not followed. */
  readonly write: (tag: Tag, open: Open) => Written | undefined
}

const attribute = (name: string, value: string) => ` ${name}="${escaped(value).replaceAll('"', "&quot;")}"`

const begin = (name: string, attributes: Readonly<Record<string, string>>) =>
  `<${name}${Object.entries(attributes)
    .map(([key, value]) => attribute(key, value))
    .join("")}>`

const pause = ({ attributes: { strength, time } }: Tag, open: Open): Written => {
  const known = { ...(strength === undefined ? {} : { strength }), ...(time === undefined ? {} : { time }) }
  return { ssml: begin("break", known).replace(/>$/u, "/>"), open }
}

/** One element at a time, closed before what follows. */
const element = (name: string, attributes: Readonly<Record<string, string>>, { isEnd }: Tag, open: Open) => {
  if (isEnd) return open.element === name ? { ssml: `</${name}>`, open: { ...open, element: undefined } } : undefined
  return open.element === undefined ? { ssml: begin(name, attributes), open: { ...open, element: name } } : undefined
}

const spelling = (tag: Tag, open: Open) => element("say-as", { "interpret-as": "characters" }, tag, open)

const isEmptyObject = (value: object) => Object.keys(value).length === 0

/** From here on, until it is said otherwise. */
const manner = (name: "rate" | "volume", { attributes, isEnd }: Tag, open: Open): Written | undefined => {
  const ratio = Number(attributes["ratio"])
  if (isEnd || open.element !== undefined || !(ratio > 0)) return undefined
  const prosody = { ...open.prosody, [name]: `${Math.round(ratio * 100)}%` }
  const ended = isEmptyObject(open.prosody) ? "" : "</prosody>"
  return { ssml: ended + begin("prosody", prosody), open: { ...open, prosody } }
}

export const elevenLabsTags: VendorTags = {
  form: /<(\/?)(break|phoneme)\b([^<>]*)>/gu,
  write: (tag, open) => {
    if (tag.name === "break") return pause(tag, open)
    const { alphabet = "ipa", ph } = tag.attributes
    if (tag.isEnd) return element("phoneme", {}, tag, open)
    return alphabet !== "ipa" || ph === undefined ? undefined : element("phoneme", { alphabet, ph }, tag, open)
  }
}

const cartesiaForm = /<(\/?)(break|spell|speed|volume|emotion|speak)\b([^<>]*)>/gu

export const cartesiaTags: VendorTags = {
  form: cartesiaForm,
  write: (tag, open) => {
    if (tag.name === "break") return pause(tag, open)
    if (tag.name === "spell") return spelling(tag, open)
    if (tag.name === "speed") return manner("rate", tag, open)
    return tag.name === "volume" ? manner("volume", tag, open) : undefined
  }
}

/** Pace and loudness would hold back all that follows them until it has ended. */
const liveCartesiaTags: VendorTags = {
  form: cartesiaForm,
  write: (tag, open) => (tag.name === "speed" || tag.name === "volume" ? undefined : cartesiaTags.write(tag, open))
}

const attributeForm = /\b([a-z]{1,16})=(?:"([^"]{0,200})"|'([^']{0,200})')/gu

const tagOf = ([, slash, name = "", rest = ""]: RegExpMatchArray): Tag => ({
  name,
  isEnd: slash === "/",
  attributes: Object.fromEntries(
    Array.from(rest.matchAll(attributeForm), ([, key = "", double, single]) => [key, double ?? single ?? ""])
  )
})

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }

const escaped = (text: string) => text.replaceAll(/[&<>]/gu, (sign) => entities[sign] ?? sign)

const signs: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">" }

/** The text that was escaped. */
export const unescaped = (ssml: string): string =>
  ssml.replaceAll(/&(amp|lt|gt);/gu, (entity, name: string) => signs[name] ?? entity)

interface Piece {
  /** UTF-16 positions in the text as it was sent, and in the SSML. */
  readonly sentAt: number
  readonly at: number
  readonly text: string
}

interface Translated {
  readonly ssml: string
  readonly open: Open
  /** The stretches of text between tags. */
  readonly pieces: ReadonlyArray<Piece>
}

const translate = (text: string, { form, write }: VendorTags, before: Open): Translated => {
  const pieces: Array<Piece> = []
  let [ssml, open, from] = ["", before, 0]
  const addText = (to: number) => {
    if (to > from) pieces.push({ sentAt: from, at: ssml.length, text: text.slice(from, to) })
    ssml += escaped(text.slice(from, to))
  }
  for (const match of text.matchAll(form)) {
    addText(match.index)
    from = match.index + match[0].length
    const written = write(tagOf(match), open)
    if (written !== undefined) [ssml, open] = [ssml + written.ssml, written.open]
  }
  addText(text.length)
  return { ssml, open, pieces }
}

const closing = ({ element: name, prosody }: Open) =>
  (name === undefined ? "" : `</${name}>`) + (isEmptyObject(prosody) ? "" : "</prosody>")

export interface Marked {
  readonly input: string
  /** Marks of the input as those of the text that was sent. */
  readonly sent: (marks: ReadonlyArray<WordMark>) => ReadonlyArray<WordMark>
}

const root = "<speak>"

/** A text without tags, or one that is SSML already, is spoken as it is. */
export const markedInput = (text: string, tags: VendorTags): Marked => {
  if (/^\s*<speak\b/u.test(text) || text.search(tags.form) === -1) return { input: text, sent: (marks) => marks }
  const { open, pieces, ssml } = translate(text, tags, nothingOpen)
  const sentAt = (at: number) => {
    const piece = pieces.findLast((each) => each.at + root.length <= at)
    if (piece === undefined) return 0
    const read = ssml.slice(piece.at, at - root.length)
    return piece.sentAt + Math.min(piece.text.length, unescaped(read).length)
  }
  return {
    input: `${root}${ssml}${closing(open)}</speak>`,
    sent: (marks) =>
      marks.map((mark) => {
        const [start, end] = [sentAt(mark.start), sentAt(mark.end)]
        return { ...mark, start, end, value: text.slice(start, end) }
      })
  }
}

/** A transcript that comes in parts, of which the last may end within a tag. */
export interface LiveMarkup {
  readonly held: string
  readonly open: Open
}

export const noMarkup: LiveMarkup = { held: "", open: nothingOpen }

const unfinished = /<\/?(?:[a-z]{0,7}|(?:break|spell|speed|volume|emotion|speak)\b[^<>]{0,200})$/u

/** The next part as SSML, with what was held back of the one before. `isAll`: nothing is held back any more. */
export const liveMarkup = (
  part: string,
  { held, open: before }: LiveMarkup,
  isAll: boolean
): { readonly ssml: string; readonly markup: LiveMarkup } => {
  const text = held + part
  const cut = isAll ? -1 : text.search(unfinished)
  const whole = cut === -1 ? text : text.slice(0, cut)
  const { open, ssml } = translate(whole, liveCartesiaTags, before)
  return isAll
    ? { ssml: ssml + closing(open), markup: noMarkup }
    : { ssml, markup: { held: text.slice(whole.length), open } }
}
