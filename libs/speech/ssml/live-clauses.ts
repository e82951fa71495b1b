/**
 * Clauses of text with SSML elements that is still being written, each well-formed in itself. A piece is read once: of
 * the earlier text, at most an unfinished tag is read again, so time is linear in the text however it is cut into
 * pieces.
 */
import { Result } from "effect"
import { type Clause, clauseSplitter, type ClauseSplitter } from "../text/clauses.ts"
import type { Fault, Run } from "../text/runs.ts"
import { readSsml } from "./document.ts"
import { ssmlLimits } from "./elements.ts"

/** No tag or comment can be longer, nor can text that awaits the end of one. */
const tagMax = 1_000
/** An element is spoken only once it has ended, so a longer one would be silent for long. */
const elementMax = 4_000
/** Elements whose tags only divide the text and change no word; a clause can end between them. */
const divisions: ReadonlyArray<string> = ["speak", "p", "s"]
const isDivision = (name: string | undefined) => name !== undefined && divisions.includes(name)

/** A tag, a declaration, a comment or an entity. */
interface Sign {
  readonly end: number
  readonly kind: "begins" | "ends" | "is empty" | "comment" | "entity" | "declaration"
  /** Of a tag. */
  readonly name?: string
}

const signAt = (written: string, from: number): Sign | "unfinished" | "none" => {
  if (written[from] === "&") return entityAt(written, from)
  if (written[from + 1] === "?") return declarationAt(written, from)
  return written[from + 1] === "!" ? commentAt(written, from) : tagAt(written, from)
}

const entityForm = /&(?:amp|lt|gt|quot|apos|#\d{1,9}|#x[\da-fA-F]{1,8});/uy
const mayBecomeEntity = /^&[#\w]{0,10}$/u
/** More than any entity has. */
const entityReach = 12

const entityAt = (written: string, from: number) => {
  entityForm.lastIndex = from
  const found = entityForm.exec(written)
  if (found !== null) return { kind: "entity", end: from + found[0].length } as const
  return mayBecomeEntity.test(written.slice(from, from + entityReach)) ? "unfinished" : "none"
}

const commentAt = (written: string, from: number) => {
  if (!written.startsWith("<!--", from)) return "<!--".startsWith(written.slice(from)) ? "unfinished" : "none"
  const close = written.indexOf("-->", from + 4)
  return close === -1 ? "unfinished" : ({ kind: "comment", end: close + 3 } as const)
}

/** The XML declaration that many writers put before the root. */
const declarationAt = (written: string, from: number) => {
  if (!written.startsWith("<?xml ", from)) return "<?xml ".startsWith(written.slice(from)) ? "unfinished" : "none"
  const close = written.indexOf("?>", from + 6)
  return close === -1 ? "unfinished" : ({ kind: "declaration", end: close + 2 } as const)
}

const tagBegin = /<(\/?)([A-Za-z_][\w:.-]*)?/uy

const tagAt = (written: string, from: number) => {
  tagBegin.lastIndex = from
  const [begin = "", slash, name] = tagBegin.exec(written) ?? []
  const nameEnd = from + begin.length
  if (name === undefined) return nameEnd === written.length ? "unfinished" : "none"
  let quote: string | undefined
  for (let at = nameEnd; at < written.length; at += 1) {
    const character = written[at]
    if (character === "<") return "none"
    if (quote !== undefined) quote = character === quote ? undefined : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === ">") {
      const isEmpty = at > nameEnd && written[at - 1] === "/"
      return { kind: isEmpty ? "is empty" : slash === "" ? "begins" : "ends", name, end: at + 1 } as const
    }
  }
  return "unfinished"
}

/** What was read of the text and could not be passed on yet. */
interface Markup {
  /** An element that is still open, or a part of a tag or an entity. */
  readonly held: string
  /** The position of `held` in the full text. */
  readonly at: number
  /** How much of `held` was read; none of it unless it is an element. */
  readonly read: number
  /** The names of the open elements, the outermost first. */
  readonly open: ReadonlyArray<string>
}

interface Scanned {
  readonly markup: Markup
  /** The text to read: tags of documents, paragraphs and sentences are blank, clauses are documents themselves. */
  readonly text: string
  /** As long as the text, for finding clauses: an element is one word, and a pause is the end of a line. */
  readonly outline: string
  readonly fault?: Fault
}

/** Continues reading a text. */
const scan = ({ held, at, read, open: openBefore }: Markup, piece: string): Scanned => {
  const written = held + piece
  const open = [...openBefore]
  let [text, outline, from] = ["", "", read]
  let elementFrom = read === 0 ? undefined : 0
  const done = (fault?: string): Scanned => {
    const start = elementFrom ?? from
    const markup = { held: written.slice(start), at: at + start, read: from - start, open }
    return { markup, text, outline, ...(fault === undefined ? {} : { fault: { message: fault, offset: at + start } }) }
  }
  for (;;) {
    const next = written.slice(from).search(/[<&]/u)
    const to = next === -1 ? written.length : from + next
    if (elementFrom === undefined) {
      ;[text, outline] = [text + written.slice(from, to), outline + written.slice(from, to)]
    }
    from = to
    if (elementFrom !== undefined && from - elementFrom > elementMax)
      return done(`an element is longer than ${elementMax} characters`)
    if (from === written.length) return done()
    const sign = signAt(written, from)
    const fault = typeof sign === "string" ? faultOfNone(written, from, sign) : follow(open, sign)
    if (fault !== undefined) return { ...done(), fault: { message: fault, offset: at + from } }
    if (typeof sign === "string") return done()
    const isInside = open.some((name) => !isDivision(name))
    if (isInside) elementFrom ??= from
    const signed = written.slice(from, sign.end)
    from = sign.end
    if (isInside) continue
    const flat = elementFrom === undefined ? flatOf(signed, sign) : wordOf(written.slice(elementFrom, from))
    ;[text, outline] = [text + flat.text, outline + flat.outline]
    elementFrom = undefined
  }
}

const faultOfNone = (written: string, from: number, sign: "unfinished" | "none") => {
  if (sign === "unfinished") {
    return written.length - from > tagMax ? `a tag is longer than ${tagMax} characters` : undefined
  }
  return written[from] === "<" ? "< begins no tag; write &lt;" : "& begins no entity that is known; write &amp;"
}

/** Applies a tag by opening or closing its element; reports why it cannot. */
const follow = (open: Array<string>, { kind, name = "" }: Sign) => {
  if (kind === "begins") {
    open.push(name)
    return open.length > ssmlLimits.depthMax ? `elements are more than ${ssmlLimits.depthMax} deep` : undefined
  }
  if (kind === "declaration" && open.length > 0) return "an XML declaration comes before the document"
  if (kind !== "ends") return undefined
  const last = open.pop()
  return last === name ? undefined : `</${name}> closes ${last === undefined ? "nothing" : `<${last}>`}`
}

/** A tag outside all elements but divisions, an entity or a comment: as it is read, and in outline. */
const flatOf = (signed: string, { kind, name }: Sign) => {
  if (kind === "entity") return { text: signed, outline: "x".repeat(signed.length) }
  const isUnread = isDivision(name) || kind === "declaration"
  const isPause = isUnread || name === "break"
  const outline = " ".repeat(signed.length - 1) + (isPause ? "\n" : " ")
  return { text: isUnread ? outline : signed, outline }
}

const lastSign = /[.!?…,;:。！？，、；：](?=\s*(?:<[^<>]*>\s*)*$)/u

/** An element in outline is one word, with the sign that ends it. */
const wordOf = (element: string) => ({
  text: element,
  outline: "x".repeat(element.length - 1) + (lastSign.exec(element)?.[0] ?? "x")
})

/** An element is spoken once it has ended. */
export const ssmlClauseSplitter = (): ClauseSplitter => {
  const outlines = clauseSplitter()
  let markup: Markup = { held: "", at: 0, read: 0, open: [] }
  let last: { readonly before: Markup; readonly piece: string; readonly scanned: Scanned } | undefined
  // Of the text that was passed on; clauses of long elements are joined again.
  let [text, start] = ["", 0]
  let elements: ReadonlyArray<readonly [from: number, to: number]> = []
  /** A piece is checked before it is taken. */
  const scanned = (piece: string) => {
    if (last?.before !== markup || last.piece !== piece) last = { before: markup, piece, scanned: scan(markup, piece) }
    return last.scanned
  }
  const cut = (end: number): Clause => {
    const clause = { text: text.slice(0, end - start), start }
    text = text.slice(end - start)
    start = end
    return clause
  }
  /** Those that do not end within an element. */
  const clausesOf = (found: ReadonlyArray<Clause>) => {
    const clauses: Array<Clause> = []
    let at = 0
    for (const clause of found) {
      const end = clause.start + clause.text.length
      while ((elements[at]?.[1] ?? Infinity) <= end) at += 1
      if ((elements[at]?.[0] ?? Infinity) >= end) clauses.push(cut(end))
    }
    elements = elements.slice(at)
    return clauses
  }
  return {
    push: (piece) => {
      const found = scanned(piece)
      const from = start + text.length
      markup = found.markup
      text += found.text
      const words = found.outline.matchAll(/x{2,}\S?/gu)
      elements = elements.concat(
        Array.from(words, ({ index, 0: { length } }) => [from + index, from + index + length] as const)
      )
      return clausesOf(outlines.push(found.outline))
    },
    overdue: () => clausesOf(outlines.overdue()),
    flush: () => {
      const clauses = clausesOf(outlines.flush())
      return text === "" ? clauses : [...clauses, cut(start + text.length)]
    },
    pending: () => text.length + markup.held.length,
    faultIn: (piece) => scanned(piece).fault,
    unclosed: () => (markup.held === "" ? undefined : { message: "what begins here is not ended", offset: markup.at })
  }
}

/** A clause as a document of its own, and the length before it. */
export const ssmlOf = ({ text }: Clause) => ({ input: `<speak>${text}</speak>`, before: "<speak>".length })

/** The pauses of a clause without words, as a document of their own; undefined if it asks for no silence. */
export const silenceOf = ({ text }: Clause): string | undefined => {
  const breaks = Array.from(text.matchAll(/<break\b[^<>]*>/gu), ([tag]) => tag.replace(/\/?>$/u, "/>"))
  const input = `<speak>${breaks.join("")}</speak>`
  const isNothing = (run: Run) => run._tag !== "Pause"
  // An unreadable one is refused like any other input.
  const isWithoutElements = Result.match(readSsml(input, { locale: "en-US" }), {
    onSuccess: (runs) => runs.every(isNothing),
    onFailure: () => false
  })
  return isWithoutElements ? undefined : input
}
