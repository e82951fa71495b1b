/** Plain text: paragraphs between empty lines, chapters by their names. */
import { toCardinal as english, toOrdinal as englishOrdinal } from "n2words/en-US"
import { toCardinal as french, toOrdinal as frenchOrdinal } from "n2words/fr-FR"
import { toCardinal as german, toOrdinal as germanOrdinal } from "n2words/de-DE"
import { toCardinal as italian, toOrdinal as italianOrdinal } from "n2words/it-IT"
import { toCardinal as portuguese, toOrdinal as portugueseOrdinal } from "n2words/pt-PT"
import { toCardinal as spanish, toOrdinal as spanishOrdinal } from "n2words/es-ES"
import { type IsOver, stepCounter, type Steps } from "../steps.ts"
import { BlockWriter, type Document, pauses } from "./block.ts"

interface Line {
  readonly from: number
  readonly to: number
}

export function* readText(source: string): Steps<Document> {
  const writer = new BlockWriter(source)
  const isOver = stepCounter()
  let lines: Array<Line> = []
  let at = 0
  for (const { 0: mark, index } of source.matchAll(/\r\n|[\n\r\f\u2028\u2029]|$/gu)) {
    const line = trimmed(source, at, index)
    const isEmpty = line.to === line.from
    if (!isEmpty) lines.push(line)
    if (isEmpty || endsParagraph.test(mark)) {
      yield* writeParagraph(writer, source, lines, isOver)
      lines = []
    }
    if (mark === "\f") writer.beginChapter()
    at = index + mark.length
  }
  return { blocks: writer.blocks }
}

/** What ends a line and a paragraph: the last is the end of the text. */
const endsParagraph = /^[\f\u2029]?$/u

const trimmed = (source: string, start: number, end: number): Line => {
  let [from, to] = [start, end]
  while (from < to && isSpace(source, from)) from += 1
  while (to > from && isSpace(source, to - 1)) to -= 1
  return { from, to }
}

const isSpace = (source: string, at: number) => /\s/u.test(source[at] ?? "")

function* writeParagraph(writer: BlockWriter, source: string, lines: ReadonlyArray<Line>, isOver: IsOver): Steps<void> {
  const textOf = ({ from, to }: Line) => source.slice(from, to)
  const headed = linesOfHeading(lines.slice(0, 3).map(textOf))
  if (headed > 0) {
    for (const { from, to } of lines.slice(0, headed)) writer.add(from, to + 1)
    writer.end({ level: 1, pauseAfterMs: pauses.heading })
  }
  const rest = lines.slice(headed)
  const width = rest.reduce((widest, { from, to }) => Math.max(widest, to - from), 0)
  const isVerse = rest.length > 1 && width <= verseColumns && rest.every((line) => capital.test(textOf(line)))
  for (const [at, line] of rest.entries()) {
    writer.add(line.from, line.to)
    const next = rest[at + 1]
    if (isVerse && next !== undefined) writer.end({ pauseAfterMs: pauses.item })
    else if (next === undefined || isFinished(textOf(line), textOf(next), width)) {
      writer.end({ pauseAfterMs: pauses.paragraph })
    } else writer.add(line.to, next.from)
    if (isOver(line.to - line.from + lineCost)) yield
  }
}

/** A line takes as long as so many characters. */
const lineCost = 100

/** A verse is no wider than this, and each begins with a capital. */
const verseColumns = 48
const capital = /^[\p{P}\s]*[\p{Lu}\p{Lt}\p{N}]/u

/** A line that ends a sentence, with room left for the next word, was not wrapped: a paragraph ends there. */
const isFinished = (line: string, next: string, width: number) =>
  /[.!?…:][\p{Pe}\p{Pf}\p{Pi}"']*$/u.test(line.slice(-8)) &&
  line.length + 1 + (/^\S{1,80}/u.exec(next)?.[0].length ?? 0) <= width

/** How many lines at the start of a paragraph are the heading of a chapter. */
const linesOfHeading = ([first = "", second, third]: ReadonlyArray<string>): number => {
  const named = chapterName.exec(first.slice(0, headingMax + 1))
  if (named === null || first.length > headingMax) return 0
  const { number = "" } = named.groups ?? {}
  const rest = first.slice(named[0].length)
  if (number !== "" && !isNumber(number)) return 0
  const isBare = /^[.:]?$/u.test(rest)
  if (isBare && second !== undefined) return third === undefined && isTitle(second) ? 2 : 1
  const isHeading = isBare || /^(?:[.:,]\s|[.:,]?\s*[–—-])/u.test(rest) || (/^\s/u.test(rest) && isTitle(rest.trim()))
  return isHeading && second === undefined ? 1 : 0
}

const headingMax = 100
const isTitle = (text: string) => text.length <= headingMax && capital.test(text) && !/[.!?;:,]$/u.test(text)

const chapterName =
  /^(?:(?:chapter|part|book|kapitel|teil|buch|chapitre|partie|livre|cap[ií]tulo|parte|libro|livro|capitolo)\s+(?:the\s+)?(?<number>[\p{L}\p{N}-]+)|(?:prolog|epilog)(?:ue|o)?|prólogo|epílogo|épilogue)/iu

const isNumber = (text: string) =>
  /^(?:\d{1,4}|[IVXLC]{1,9}|[ivxlc]{1,9})$/u.test(text) || numbersInWords.has(text.toLowerCase())

const ways = [english, german, french, spanish, italian, portuguese]
const ordinals = [englishOrdinal, germanOrdinal, frenchOrdinal, spanishOrdinal, italianOrdinal, portugueseOrdinal]
const numbersInWords: ReadonlySet<string> = new Set(
  Array.from({ length: 60 }, (_, at) =>
    [...ways, ...ordinals].map((inWords) => inWords(String(at + 1)).toLowerCase())
  ).flat()
)
