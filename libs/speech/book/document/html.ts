/** HTML5, and XHTML as books have it: blocks end lines, and what is hidden, or is no text of the book, is not read. */
import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2"
import { BlockWriter, type Document, pauses } from "./block.ts"

export const readHtml = (source: string): Document => {
  const reader = new HtmlReader(source, new BlockWriter(source))
  reader.read(0, source.length)
  const title = reader.title.take().text
  return { blocks: reader.writer.blocks, ...(title !== "" && { title }) }
}

const namesIn = (names: string): ReadonlySet<string> => new Set(names.split(" "))

const unread = namesIn(
  "head title script style template noscript svg math audio video object iframe select textarea rt rp noembed noframes"
)
const empty = namesIn("area base br col embed hr img input link meta param source track wbr")
const blocks = namesIn(
  "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure " +
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section " +
    "summary table tbody td tfoot th thead tr ul"
)
/** What ends without a tag of its own when one of these begins, and what it is looked for within. */
const endedBy: Readonly<Record<string, ReadonlySet<string>>> = {
  body: namesIn("head"),
  li: namesIn("li"),
  dt: namesIn("dt dd"),
  dd: namesIn("dt dd"),
  td: namesIn("td th"),
  th: namesIn("td th"),
  tr: namesIn("tr")
}
const within = namesIn("ul ol menu dl table")
const aroundTitle = namesIn("html head")
const inParagraph = namesIn("p head")

const headings = ["h1", "h2", "h3", "h4", "h5", "h6"]
const cells = ["td", "th"]
const items = ["li", "dt", "dd"]

const unreadTypes = /(?:^|\s)(?:noteref|pagebreak|footnotes?|endnotes?|rearnotes?)(?:\s|$)/u
const unreadRoles = /(?:^|\s)doc-(?:noteref|pagebreak|footnote|endnotes?|toc)(?:\s|$)/u
const toc = /(?:^|\s)toc(?:\s|$)/u

const depthMax = 256
const declarationMax = 1_000

interface Element {
  readonly name: string
  readonly isUnread: boolean
}

interface Attribute {
  readonly name: string
  from: number
  to: number
  value: string
}

/** Writes the lines of a stretch of `source`. */
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
  private name = ""
  private attributes: Array<Attribute> = []

  constructor(source: string, writer: BlockWriter) {
    this.source = source
    this.writer = writer
    this.title = new BlockWriter(source)
  }

  read(from: number, to: number) {
    this.end()
    this.readInline(from, to)
    this.end()
  }

  /** As a part of the line at hand. */
  readInline(from: number, to: number) {
    this.base = from
    this.isXml = /^\s*<\?xml\s|<html\b[^<>]*\sxmlns/iu.test(this.source.slice(from, from + declarationMax))
    const tokenizer = new Tokenizer({ recognizeSelfClosing: true }, this)
    tokenizer.write(this.source.slice(from, to))
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
    return innermost.name === "title" && aroundTitle.has(this.open.at(-2)?.name ?? "head") ? this.title : undefined
  }

  onopentagname(start: number, end: number) {
    this.name = this.source.slice(this.base + start, this.base + end).toLowerCase()
    this.attributes = []
  }

  onattribname(start: number, end: number) {
    const name = this.source.slice(this.base + start, this.base + end).toLowerCase()
    this.attributes.push({ name, from: -1, to: -1, value: "" })
  }

  onattribdata(start: number, end: number) {
    const attribute = this.attributes.at(-1)
    if (attribute === undefined) return
    if (attribute.from === -1) attribute.from = this.base + start
    attribute.value += this.source.slice(this.base + start, this.base + end)
  }

  onattribentity(codePoint: number) {
    const attribute = this.attributes.at(-1)
    if (attribute !== undefined) attribute.value += String.fromCodePoint(codePoint)
  }

  onattribend(quote: QuoteType, end: number) {
    const attribute = this.attributes.at(-1)
    const isQuoted = quote === QuoteType.Single || quote === QuoteType.Double
    if (attribute !== undefined) attribute.to = this.base + end - (isQuoted ? 1 : 0)
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
    const isUnread = this.isUnread()
    if (!isUnread) this.beginRead(name, this.base + end + 1)
    if (isEmpty) return
    if (this.open.length >= depthMax) this.deeper += 1
    else {
      this.open.push({ name, isUnread })
      this.counts.set(name, this.countOf(name) + 1)
    }
  }

  private countOf(name: string) {
    return this.counts.get(name) ?? 0
  }

  private isUnread() {
    if (this.open.at(-1)?.isUnread === true || unread.has(this.name)) return true
    if (this.attributes.length === 0) return false
    const of = new Map(this.attributes.map(({ name, value }) => [name, value]))
    const types = of.get("epub:type") ?? ""
    const isHidden = of.has("hidden") || of.get("aria-hidden") === "true"
    const isNote = unreadTypes.test(types) || unreadRoles.test(of.get("role") ?? "")
    const isContents = this.name === "nav" && toc.test(types)
    return isHidden || isNote || isContents
  }

  private beginRead(name: string, tagEnd: number) {
    if (name === "br") this.writer.decoded(" ", this.source.lastIndexOf("<", tagEnd - 1), tagEnd)
    if (name === "hr") this.writer.pause(pauses.break)
    if (name !== "img") return
    const alt = this.attributes.find((attribute) => attribute.name === "alt")
    if (alt === undefined || alt.from === -1) return
    // Without entities it stands there as it is read.
    if (alt.value.length === alt.to - alt.from) this.writer.add(alt.from, alt.to)
    else this.writer.decoded(alt.value, alt.from, alt.to)
  }

  /** Elements that end without tags of their own: `<li>` before the next, `<p>` before a block. */
  private endOthers(name: string) {
    const ended = endedBy[name]
    if (ended !== undefined) this.endWhere((open) => ended.has(open), within)
    if (blocks.has(name)) this.endWhere((open) => inParagraph.has(open), blocks)
  }

  private endWhere(isEnded: (name: string) => boolean, barred: ReadonlySet<string>) {
    const at = this.open.findLastIndex(({ name }) => isEnded(name) || barred.has(name))
    if (isEnded(this.open[at]?.name ?? "")) this.endFrom(at)
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
  private end() {
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
