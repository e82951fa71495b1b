/** HTML5, and XHTML as books have it: blocks end lines, and what is hidden, or is no text of the book, is not read. */
import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2"
import { stepLength, type Steps } from "../steps.ts"
import { BlockWriter, type Document, pauses } from "./block.ts"
import { type Attribute, blocks, cells, empty, headings, impliedEnds, isUnread, items } from "./html-elements.ts"

export function* readHtml(source: string): Steps<Document> {
  const reader = new HtmlReader(source, new BlockWriter(source))
  yield* reader.read(0, source.length)
  reader.end()
  const title = reader.title.take().text
  return { blocks: reader.writer.blocks, ...(title !== "" && { title }) }
}

const depthMax = 256
const xml = /^\s*<\?xml\s|<html\b[^<>]*\sxmlns/iu
const xmlMax = 1_000
/** Before the value of an attribute. */
const opening = /^\s*=\s*["']?/u

interface Element {
  readonly name: string
  readonly isUnread: boolean
}

/** Writes what stretches of `source` say. */
export class HtmlReader implements TokenizerCallbacks {
  readonly writer: BlockWriter
  /** The title in the head. */
  readonly title: BlockWriter
  private readonly source: string
  private base = 0
  private isXml = false
  /** The outermost first. Deeper elements are counted alone. */
  private readonly open: Array<Element> = []
  private readonly counts = new Map<string, number>()
  private deeper = 0
  private tagStart = 0
  private name = ""
  private attributes: Array<Attribute> = []

  constructor(source: string, writer: BlockWriter) {
    this.source = source
    this.writer = writer
    this.title = new BlockWriter(source)
  }

  *read(from: number, to: number): Steps<void> {
    this.base = from
    this.isXml = xml.test(this.source.slice(from, from + xmlMax))
    const tokenizer = new Tokenizer({ recognizeSelfClosing: true }, this)
    for (let at = from; at < to; at += stepLength) {
      tokenizer.write(this.source.slice(at, Math.min(to, at + stepLength)))
      yield
    }
    tokenizer.end()
  }

  /** As in XML, a script has no syntax of its own, and CDATA is text. */
  isInForeignContext() {
    return this.isXml
  }

  ontext(start: number, end: number) {
    this.target()?.add(this.base + start, this.base + end)
  }

  ontextentity(codePoint: number, end: number) {
    const to = this.base + end
    this.target()?.decoded(String.fromCodePoint(codePoint), this.source.lastIndexOf("&", to - 1), to)
  }

  oncdata(start: number, end: number, endOffset: number) {
    this.ontext(start, end - endOffset)
  }

  /** Where text goes: nowhere, if it is not read. */
  private target() {
    const innermost = this.open.at(-1)
    if (innermost?.isUnread !== true) return this.writer
    const isOfHead = /^h(?:ead|tml)$/u.test(this.open.at(-2)?.name ?? "head")
    return innermost.name === "title" && isOfHead ? this.title : undefined
  }

  onopentagname(start: number, end: number) {
    this.tagStart = this.base + start - 1
    this.name = this.source.slice(this.base + start, this.base + end).toLowerCase()
    this.attributes = []
  }

  onattribname(start: number, end: number) {
    const name = this.source.slice(this.base + start, this.base + end).toLowerCase()
    this.attributes.push({ name, nameEnd: this.base + end, value: "", end: -1 })
  }

  onattribdata(start: number, end: number) {
    const attribute = this.attributes.at(-1)
    if (attribute !== undefined) attribute.value += this.source.slice(this.base + start, this.base + end)
  }

  onattribentity(codePoint: number) {
    const attribute = this.attributes.at(-1)
    if (attribute !== undefined) attribute.value += String.fromCodePoint(codePoint)
  }

  onattribend(quote: QuoteType, end: number) {
    const attribute = this.attributes.at(-1)
    const isQuoted = quote === QuoteType.Single || quote === QuoteType.Double
    if (attribute !== undefined) attribute.end = this.base + end - (isQuoted ? 1 : 0)
  }

  onselfclosingtag(end: number) {
    this.begin(end, true)
  }

  onopentagend(end: number) {
    this.begin(end, empty.has(this.name))
  }

  private begin(end: number, isEmpty: boolean) {
    const { name } = this
    if (blocks.has(name) && this.open.at(-1)?.isUnread !== true) this.end()
    this.endOthers(name)
    const element = { name, isUnread: this.open.at(-1)?.isUnread === true || isUnread(name, this.attributes) }
    if (!element.isUnread) this.beginRead(name, this.base + end + 1)
    if (isEmpty) return
    if (this.open.length >= depthMax) this.deeper += 1
    else {
      this.open.push(element)
      this.counts.set(name, this.countOf(name) + 1)
    }
  }

  private countOf(name: string) {
    return this.counts.get(name) ?? 0
  }

  private beginRead(name: string, tagEnd: number) {
    if (name === "br") this.writer.decoded(" ", this.tagStart, tagEnd)
    if (name === "hr") this.writer.pause(pauses.break)
    if (name !== "img") return
    const alt = this.attributes.find((attribute) => attribute.name === "alt")
    if (alt === undefined || alt.value === "") return
    const from = alt.nameEnd + (opening.exec(this.source.slice(alt.nameEnd, alt.end))?.[0].length ?? 0)
    // Without entities it stands there as it is read.
    if (alt.value.length === alt.end - from) this.writer.add(from, alt.end)
    else this.writer.decoded(alt.value, from, alt.end)
  }

  private endOthers(name: string) {
    for (const { barred, begun, ended } of impliedEnds) {
      if (!begun.has(name)) continue
      const at = this.open.findLastIndex((open) => ended.has(open.name) || barred.has(open.name))
      if (ended.has(this.open[at]?.name ?? "")) this.endFrom(at)
    }
  }

  onclosetag(start: number, end: number) {
    const name = this.source.slice(this.base + start, this.base + end).toLowerCase()
    if (this.deeper > 0) {
      this.deeper -= 1
      if (blocks.has(name)) this.end()
      return
    }
    if (this.countOf(name) > 0) this.endFrom(this.open.findLastIndex((open) => open.name === name))
  }

  private endFrom(at: number) {
    const ended = this.open.slice(at)
    const endsLine = ({ name }: Element, nth: number) => blocks.has(name) && this.open[at + nth - 1]?.isUnread !== true
    if (ended.some(endsLine)) this.end()
    if (ended.some(({ isUnread, name }) => name === "tr" && !isUnread)) this.writer.pause(pauses.item)
    for (const { name } of ended) this.counts.set(name, this.countOf(name) - 1)
    this.open.length = at
    this.deeper = 0
  }

  /** Ends the line, by what it stands in. */
  end() {
    const isIn = (name: string) => this.countOf(name) > 0
    const level = headings.findIndex(isIn) + 1
    if (level > 0) this.writer.end({ level, pauseAfterMs: pauses.heading })
    else if (cells.some(isIn)) this.writer.end({ pauseAfterMs: 0 })
    else this.writer.end({ pauseAfterMs: items.some(isIn) ? pauses.item : pauses.paragraph })
  }

  oncomment() {}
  ondeclaration() {}
  onend() {}
  onprocessinginstruction() {}
}
