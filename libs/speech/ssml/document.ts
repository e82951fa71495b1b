/**
 * A strict SSML reader: every part that it does not understand is a fault with its position, never silently skipped. An
 * engine never gets the document itself, only the runs. A document type, a processing instruction, an unknown element,
 * attribute or entity is refused; nothing is fetched and nothing is expanded. Time is linear in the input.
 */
import { Result } from "effect"
import { SaxesParser, type SaxesTagPlain } from "saxes"
import { type Fault, Run, type TextRun } from "../text/runs.ts"
import type { Style } from "../text/style.ts"
import {
  elementName,
  findElement,
  noElement,
  openElement,
  type OpenElement,
  prefixOf,
  problemOf,
  readBreak,
  ssmlLimits,
  type Tongue
} from "./elements.ts"

/**
 * Whether `input` is SSML or plain text. A text that starts as only a document does is SSML, however faulty: no
 * listener wants to hear `<!DOCTYPE speak>` or `<SPEAK>` read aloud.
 */
export const isSsml = (input: string): boolean => {
  const start = bodyStart(input)
  const hasDeclaration = start > firstCharacter(input, 0)
  return hasDeclaration || rootStart.test(firstTag(input, start))
}

/** A document type, or a root element called speak in any case and under any prefix. */
const rootStart = /^<(?:!doctype\b|(?:[\p{L}_][\p{L}\p{N}._-]*:)?speak)/iu
// Longer than any real prefix.
const tagCharactersMax = 200
// A declaration names at most a version and an encoding.
const declarationCharactersMax = 200

/** The index of the first character that is not white space; a byte order mark counts as white space. */
const firstCharacter = (input: string, from: number) => from + input.slice(from).search(/\S|$/u)

/** The index of the first tag after comments and processing instructions. */
const firstTag = (input: string, start: number) => {
  for (let at = start; ;) {
    const close = input.startsWith("<!--", at) ? "-->" : input.startsWith("<?", at) ? "?>" : undefined
    const end = close === undefined ? -1 : input.indexOf(close, at)
    if (close === undefined || end === -1) return input.slice(at, at + tagCharactersMax)
    at = firstCharacter(input, end + close.length)
  }
}

/** The start of the document, after white space and the XML declaration that many writers put first. */
const bodyStart = (input: string): number => {
  const start = firstCharacter(input, 0)
  if (!input.startsWith("<?xml ", start)) return start
  const end = input.slice(start, start + declarationCharactersMax).indexOf("?>")
  return end === -1 ? start : firstCharacter(input, start + end + 2)
}

export const readSsml = (input: string, tongue: Tongue): Result.Result<ReadonlyArray<Run>, ReadonlyArray<Fault>> => {
  const half = halfPairAt(input)
  if (half !== -1) return Result.fail([{ message: "half a surrogate pair is not a character", offset: half }])
  const reading = new SsmlReading(input, tongue)
  // The parser throws at the first XML error; further faults would only confuse.
  const parsed = Result.try(() => reading.parse())
  if (Result.isFailure(parsed)) reading.refuseXml(parsed.failure)
  return reading.faults.length > 0 ? Result.fail(reading.faults) : Result.succeed(reading.runs)
}

interface Stretch {
  readonly from: number
  readonly to: number
  readonly entitiesCount: boolean
}

/** The text spoken in place of an element, and where the element's content and the element end. */
interface Rewritten {
  readonly text: string
  readonly contentEnd: number
  readonly tagEnd: number
}

class SsmlReading {
  readonly runs: Array<Run> = []
  readonly faults: Array<Fault> = []
  private readonly input: string
  private readonly tongue: Tongue
  /** The outermost first. */
  private readonly elementsOpen: Array<OpenElement> = [noElement]
  /** Of the elements' names, as the root declares it. */
  private prefix = ""
  private elements = 0
  private silence = 0
  /** The text of the open sub or say-as. */
  private content = ""
  /** The end of the last tag or text. */
  private cursor = 0
  private readonly parser = new SaxesParser({ position: false })
  private readonly base: number

  constructor(input: string, tongue: Tongue) {
    this.input = input
    this.tongue = tongue
    this.base = bodyStart(input)
    this.cursor = this.base
  }

  /** The parser's position. */
  private here() {
    return this.base + this.parser.position
  }

  refuse(message: string, offset: number) {
    if (this.faults.length < ssmlLimits.faultsMax) {
      this.faults.push({ message, offset: Math.min(offset, this.input.length) })
    }
  }

  refuseXml(cause: unknown) {
    const bare = bareAmpersand(this.input, this.cursor, this.here())
    const message = cause instanceof Error ? cause.message : "cannot be read"
    if (bare === -1) this.refuse(`not well-formed XML: ${message}`, this.here())
    else this.refuse("not well-formed XML: & begins no entity that is known; write &amp;", bare)
  }

  parse() {
    const { parser } = this
    const refusing = (message: string) => () => this.refuse(message, this.cursor)
    parser.on("doctype", refusing("a document type is not allowed"))
    parser.on("processinginstruction", refusing("a processing instruction is not allowed"))
    // These handlers run at the `<` after a text, at the second `-` that ends a comment, and otherwise at the `>`.
    parser.on("text", () => this.text({ from: this.cursor, to: this.here() - 1, entitiesCount: true }, this.here() - 1))
    parser.on("comment", () => (this.cursor = this.here() + 1))
    parser.on("cdata", () => {
      const from = this.cursor + "<![CDATA[".length
      this.text({ from, to: this.here() - 3, entitiesCount: false }, this.here())
    })
    // Without namespaces a tag is always a plain one.
    parser.on("opentag", (tag) => this.open(tag as SaxesTagPlain, this.here()))
    parser.on("closetag", () => this.close(this.here()))
    parser.write(this.input.slice(this.base).trimEnd())
    parser.close()
  }

  private text(stretch: Stretch, next: number) {
    const { from, to } = stretch
    const element = this.innermost()
    if (element.name !== "" && to > from) {
      const run = decodeText(this.input, stretch, element.style)
      const isMisplaced = findElement(element.name)?.holds === "nothing" && run.text.trim() !== ""
      if (isMisplaced) this.refuse(`<${element.name}> holds no text`, from)
      if (element.rewrite === null) this.push(run, element)
      else this.content += run.text
    }
    this.cursor = next
  }

  private open({ name: written, attributes }: SaxesTagPlain, tagEnd: number) {
    const tagStart = this.cursor
    this.cursor = tagEnd
    const outer = this.innermost()
    if (outer.name === "") this.prefix = prefixOf(written, attributes)
    // What metadata holds is metadata, under any name.
    const name = outer.name === "metadata" ? outer.name : elementName(written, this.prefix)
    this.elements += 1
    const { elements } = this
    const problem = problemOf({ name, attributes, parent: outer.name, depth: this.elementsOpen.length, elements })
    const opened =
      problem === undefined
        ? openElement(outer, { name, attributes, tagStart, tagEnd }, this.tongue)
        : Result.fail(problem)
    if (Result.isFailure(opened)) this.refuse(opened.failure, tagStart)
    this.elementsOpen.push(Result.isSuccess(opened) ? opened.success : { ...outer, name, rewrite: null })
    if (name === "p" || name === "s") this.runs.push(Run.Boundary)
    if (name === "break" && problem === undefined) this.pause(attributes, tagStart)
  }

  private pause(attributes: Readonly<Record<string, string>>, tagStart: number) {
    const read = readBreak(attributes)
    if (Result.isFailure(read)) return this.refuse(read.failure, tagStart)
    this.silence += read.success
    if (this.silence > ssmlLimits.silenceMillisecondsMax) {
      this.refuse(`all breaks together are longer than ${ssmlLimits.silenceMillisecondsMax / 1_000} s`, tagStart)
    } else if (read.success > 0) this.runs.push(Run.Pause(read.success))
  }

  private close(tagEnd: number) {
    const closed = this.elementsOpen.pop()
    const contentEnd = this.cursor
    this.cursor = tagEnd
    if (closed?.rewrite) this.rewritten(closed, { text: closed.rewrite(this.content.trim()), contentEnd, tagEnd })
    this.content = ""
    if (closed?.name === "p" || closed?.name === "s") this.runs.push(Run.Boundary)
  }

  /** The entire element becomes one word: its content as sent, or the element itself if it is empty. */
  private rewritten(element: OpenElement, { text, contentEnd, tagEnd }: Rewritten) {
    const { name, style, ipa, contentStart, tagStart } = element
    const raw = this.input.slice(contentStart, contentEnd)
    const spoken = text.replaceAll(/\s/gu, " ").trim()
    const sent = Math.max(raw.length, name === "sub" ? spoken.length : 0)
    if (sent > ssmlLimits.wordCharactersMax) {
      this.refuse(`<${name}> is longer than ${ssmlLimits.wordCharactersMax} characters`, tagStart)
    } else if (spoken !== "") {
      const start = contentStart + (raw.length - raw.trimStart().length)
      const content = { start, end: start + raw.trim().length }
      const span = content.end > content.start ? content : { start: tagStart, end: tagEnd }
      this.push(Run.Whole(spoken, span, style, ipa ?? undefined), element)
    }
  }

  private push(run: TextRun, { isLeftOut, language }: OpenElement) {
    if (!isLeftOut) this.runs.push(language === null ? run : { ...run, language })
  }

  private innermost() {
    return this.elementsOpen.at(-1) ?? noElement
  }
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/**
 * Decodes text of an XML document, with the position of each unit. The reader has checked it: every `&` starts one of
 * the five entities or a character reference. All white space becomes a space, because SSML gives it no further
 * meaning. `entitiesCount` is false in CDATA, where `&` is itself.
 */
const decodeText = (input: string, { from, to, entitiesCount }: Stretch, style: Style): TextRun => {
  const starts = new Int32Array(to - from)
  const ends = new Int32Array(to - from)
  const parts: Array<string> = []
  let length = 0
  let copied = from
  let at = from
  while (at < to) {
    const isReference = entitiesCount && input[at] === "&"
    const end = isReference ? input.indexOf(";", at) + 1 || to : at + 1
    let units = 1
    if (isReference) {
      const decoded = referenceOf(input.slice(at + 1, end - 1))
      parts.push(input.slice(copied, at), decoded)
      units = decoded.length
      copied = end
    }
    starts.fill(at, length, length + units)
    ends.fill(end, length, length + units)
    length += units
    at = end
  }
  parts.push(input.slice(copied, to))
  const text = parts.join("").replaceAll(/\s/gu, " ")
  return Run.Text(text, starts.subarray(0, length), ends.subarray(0, length), style)
}

const referenceOf = (name: string) => {
  if (!name.startsWith("#")) return entities[name] ?? ""
  const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10)
  return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ""
}

// XML mistakes with a better message than the parser's. Both functions return an offset, or -1.

/** The first half surrogate pair, which XML does not allow and no engine can speak. */
const halfPairAt = (input: string) => {
  if (input.isWellFormed()) return -1
  const mended = input.toWellFormed()
  for (let at = 0; at < input.length; at += 1) if (input[at] !== mended[at]) return at
  return -1
}

/** The most common mistake, which the parser reports only at the next semicolon or at the end. */
const bareAmpersand = (input: string, from: number, to: number) => {
  const found = input.slice(from).search(/&(?!(?:amp|lt|gt|quot|apos|#\d{1,9}|#x[\da-fA-F]{1,8});)/u)
  return found === -1 || from + found >= to ? -1 : from + found
}
