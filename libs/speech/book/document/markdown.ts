/** Markdown: CommonMark with GFM's tables and strikethrough; HTML within it is read as HTML. */
import { type InlineContext, parser, Strikethrough, Table } from "@lezer/markdown"
import type { SyntaxNodeRef, Tree } from "@lezer/common"
import { finished, stepLength, type Steps } from "../steps.ts"
import { BlockWriter, type Document, pauses } from "./block.ts"
import { HtmlReader } from "./html.ts"

export function* readMarkdown(source: string): Steps<Document> {
  const reader = new MarkdownReader(source)
  const text = bounded(source)
  for (let from = 0; from < text.length;) {
    const tree = parsePiece(text.slice(from))
    reader.base = from
    tree.iterate({ enter: (node) => reader.enter(node), leave: (node) => reader.leave(node) })
    from += tree.length
    yield
  }
  return { blocks: reader.writer.blocks }
}

/** The tree of the first blocks, that trees stay small: up to a line that may begin one wherever it stands. */
const parsePiece = (text: string): Tree => {
  const parse = markdown.startParse(text)
  let tree = parse.advance()
  while (tree === null) {
    const { parsedPos: at } = parse
    if (at >= stepLength && parse.stoppedAt === null && (at >= 4 * stepLength || !isIndented(text, at))) {
      parse.stopAt(at - 1)
    }
    tree = parse.advance()
  }
  return tree
}

/** Whether the next line that is not empty is one of code, unless it continues a list. */
const isIndented = (text: string, at: number) => {
  const before = text.slice(at, at + text.slice(at).search(/\S|$/u))
  const margin = before.slice(before.lastIndexOf("\n") + 1)
  return margin.length > 3 || margin.includes("\t")
}

const unread = new Set(
  (
    "CodeBlock FencedCode CommentBlock ProcessingInstructionBlock LinkReference HorizontalRule EmphasisMark CodeMark " +
    "HeaderMark QuoteMark StrikethroughMark Comment ProcessingInstruction LinkTitle LinkLabel TableDelimiter"
  ).split(" ")
)

class MarkdownReader {
  readonly writer: BlockWriter
  /** Where the tree at hand begins. */
  base = 0
  private readonly source: string
  /** How far the block at hand is written; absent between blocks. */
  private written: number | undefined
  private lists = 0

  constructor(source: string) {
    this.source = source
    this.writer = new BlockWriter(source)
  }

  /** Whether to enter what is within it. */
  enter(node: SyntaxNodeRef): boolean {
    const { name } = node
    const [from, to] = [this.base + node.from, this.base + node.to]
    if (name === "HorizontalRule") this.writer.pause(pauses.break)
    if (unread.has(name)) return this.pass(from, to)
    switch (name) {
      case "ListItem":
        this.lists += 1
        return true
      case "Paragraph":
      case "TableCell":
        if (footnote.test(this.source.slice(from, from + footnoteNameMax))) return false
        this.written = from
        return true
      case "ListMark":
        return this.enterListMark(from, to)
      case "HTMLBlock":
        this.writeHtml(from, to).end()
        return false
      case "Link":
        return this.source.startsWith("[^", from) ? this.pass(from, to) : true
      case "LinkMark":
        return isResolved(node) ? this.pass(from, to) : false
      case "URL":
        return node.node.parent?.name === "Autolink" ? false : this.pass(from, to)
      case "HTMLTag":
        return this.pass(from, to, lineBreak.test(this.source.slice(from, from + 4)) ? " " : "")
      case "HardBreak":
        return this.pass(from, to, " ")
      case "Escape":
        return this.pass(from, from + 1)
      case "Entity":
        this.pass(from, to)
        this.writeHtml(from, to)
        return false
      default:
        if (headings.has(name)) this.written = from
        return true
    }
  }

  private writeHtml(from: number, to: number) {
    const reader = new HtmlReader(this.source, this.writer)
    finished(reader.read(from, to))
    return reader
  }

  /** A number is read, a bullet is not. */
  private enterListMark(from: number, to: number) {
    if (/\d/u.test(this.source[from] ?? "")) this.writer.add(from, to + 1)
    return false
  }

  /** Writes what stands before `from`, and `text` for what stands up to `to`. */
  private pass(from: number, to: number, text = ""): boolean {
    if (this.written === undefined) return false
    this.writer.add(this.written, from)
    if (text !== "") this.writer.decoded(text, from, to)
    this.written = to
    return false
  }

  leave({ name, to }: SyntaxNodeRef) {
    const level = headings.get(name)
    if (name === "ListItem") {
      this.lists -= 1
      this.writer.take()
    }
    if (name === "TableHeader" || name === "TableRow") this.writer.pause(pauses.item)
    if (this.written === undefined || (level === undefined && name !== "Paragraph" && name !== "TableCell")) return
    this.writer.add(this.written, this.base + to)
    this.written = undefined
    if (level !== undefined) this.writer.end({ level, pauseAfterMs: pauses.heading })
    else if (name === "TableCell") this.writer.end({ pauseAfterMs: 0 })
    else this.writer.end({ pauseAfterMs: this.lists > 0 ? pauses.item : pauses.paragraph })
  }
}

const headings: ReadonlyMap<string, number> = new Map([
  ...[1, 2, 3, 4, 5, 6].map((level) => [`ATXHeading${level}`, level] as const),
  ["SetextHeading1", 1],
  ["SetextHeading2", 2]
])

const footnote = /^\[\^[^\]\s]+\]:/u
const footnoteNameMax = 100
const lineBreak = /^<br\b/iu

/** "[sic]" is no link, though it may be one. */
const isResolved = ({ node: { parent } }: SyntaxNodeRef) =>
  parent === null ||
  parent.name === "Autolink" ||
  parent.getChild("URL") !== null ||
  parent.getChild("LinkLabel") !== null

// The parser finds the partner of each sign in time that is quadratic in a paragraph's signs.
const signsMax = 400
const counts = new WeakMap<InlineContext, number>()

/** Beyond so many signs a paragraph is read as it is written. */
const countSigns = (context: InlineContext, character: number) => {
  if (!signs.has(character)) return -1
  const count = (counts.get(context) ?? 0) + 1
  counts.set(context, count)
  return count > signsMax ? context.end : -1
}
const signs = new Set(Array.from("*_~[]<`", (sign) => sign.charCodeAt(0)))

const markdown = parser.configure([
  Table,
  Strikethrough,
  { parseInline: [{ name: "SignLimit", parse: countSigns, before: "Escape" }] }
])

/** The same text for the parser, of the same length: no front matter, no blocks too deep in others, `[[1]](a)` a link. */
const bounded = (source: string) =>
  source
    .replace(frontMatter, (matter) => "\n".repeat(matter.length))
    .replaceAll(bracketsInLink, "[$1x$2x$3](")
    .replaceAll(deepMarks, (marks) => marks.slice(0, marksMax) + "x".repeat(Math.max(0, marks.length - marksMax)))

const frontMatter = /^\uFEFF?---[ \t]*\r?\n(?=[\w-]+[ \t]*:)[^]{0,10000}?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/u
// The parser takes the inner ones for a link, and none is in another.
const bracketsInLink = /\[([^[\]\n]{0,200})\[([^[\]\n]{0,200})\](?!\()([^[\]\n]{0,200})\]\(/gu
const marksMax = 64
const deepMarks = /^(?=[^]{64})(?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))+/gmu
