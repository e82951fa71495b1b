/** The passages of a chapter: what is spoken in one session each. */
import { continuesAt, isSsml } from "#speech"
import type { BookChapter, BookSection, BookTurn, Passage } from "./book.ts"
import { type Chapter, titleOf } from "./chapters.ts"
import type { Block } from "./document/block.ts"
import { type Sourced, sliced } from "./document/source.ts"
import { type Speakers, spokenBy } from "./speakers.ts"
import type { IsOver, Steps } from "./steps.ts"

export const passageMax = 4_000
const chapterPauseMs = 1_200
const sectionPauseMs = 500

/** A turn takes as long as so many characters. */
const turnCost = 100

type Spoken = Pick<BookChapter, "characters" | "passages" | "sections">

export function* passagesOf({ blocks, heading }: Chapter, speakers: Speakers, isOver: IsOver): Steps<Spoken> {
  const passages: Array<Array<BookTurn>> = [[]]
  const sections: Array<BookSection> = []
  const isSection = (block: Block | undefined) => block?.level !== undefined && block !== heading
  let [characters, room] = [0, passageMax]
  for (const [at, block] of blocks.entries()) {
    const next = blocks[at + 1]
    const pauseAfterMs =
      next === undefined ? chapterPauseMs : block.pauseAfterMs + (isSection(next) ? sectionPauseMs : 0)
    for (const [nth, turn] of turnsOf(block, pauseAfterMs, speakers).entries()) {
      if (turn.text.length > room) {
        passages.push([])
        room = passageMax
      }
      const passage = passages.at(-1) ?? []
      if (nth === 0 && isSection(block)) {
        sections.push({ title: titleOf(block.text), passage: passages.length - 1, turn: passage.length })
      }
      passage.push(turn)
      room -= turn.text.length
      characters += turn.text.length
      if (isOver(turn.text.length + turnCost)) yield
    }
  }
  return { characters, passages: passages.map((turns): Passage => ({ turns })), sections }
}

const turnsOf = (block: Block, pauseAfterMs: number, speakers: Speakers): ReadonlyArray<BookTurn> => {
  const { speaker, ...line } = block.level === undefined ? spokenBy(block, speakers) : { ...block, speaker: undefined }
  const pieces = cut(line)
  return pieces.map((piece, at) => ({
    ...(speaker !== undefined && { speaker }),
    ...asPlainText(piece),
    pauseAfterMs: at === pieces.length - 1 ? pauseAfterMs : 0
  }))
}

/** A session reads what begins as SSML does as markup. */
const asPlainText = ({ source, text }: Sourced): Sourced =>
  isSsml(text)
    ? { text: `\u2060${text}`, source: source.map(([at, from, length]) => [at + 1, from, length]) }
    : { source, text }

// Room for the joiner that may stand before it.
const pieceMax = passageMax - 1

const cut = (line: Sourced): ReadonlyArray<Sourced> => {
  const { text } = line
  if (text.length <= pieceMax) return [line]
  const pieces: Array<Sourced> = []
  let from = 0
  while (text.length - from > pieceMax) {
    const to = from + endIn(text.slice(from, from + pieceMax))
    pieces.push(sliced(line, from, text[to - 1] === " " ? to - 1 : to))
    from = to
  }
  return [...pieces, sliced(line, from, text.length)]
}

/** Where to cut: behind the last sentence that ends in it, else behind the last space, else before its last character. */
const endIn = (text: string) => {
  const ends = Array.from(sentences.segment(text), ({ index }) => index)
  const sentence = ends.findLast((end) => end > 0 && !continuesAt(text, 0, end))
  if (sentence !== undefined) return sentence
  const space = text.lastIndexOf(" ")
  return space > 0 ? space + 1 : text.length - (/[\ud800-\udbff]$/u.test(text) ? 1 : 0)
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" })
