/**
 * The text of captions in units that are not divided: each word as it is written, with the signs around it and without
 * markup, and when it is heard. A word that is longer than a line is several units. Pure.
 */
import type { WordMark } from "#speech/contract"
import { isSsml } from "../ssml/document.ts"
import { endsWithClause } from "../text/chunker.ts"

/** A line's columns: a wide character, as of Chinese, takes two. */
export const lineMax = 42
/** The columns of a speaker's name before the text. */
const nameMax = 24

export interface Unit {
  readonly text: string
  readonly columns: number
  /** White space separates it from the unit before it. */
  readonly isSpaced: boolean
  readonly startMs: number
  readonly endMs: number
  /** What ends with it. Nothing does with a name, which stays with the text after it. */
  readonly ends: "turn" | "sentence" | "clause" | "word" | "nothing"
  readonly turn: number
}

export interface Captioned {
  readonly inputs: ReadonlyArray<string>
  readonly sentences: ReadonlyArray<{ readonly turn: number; readonly start: number; readonly end: number }>
  readonly words: ReadonlyArray<WordMark>
}

/** `names`: who speaks each turn, to be written where the speaker changes. */
export const unitsOf = (
  { inputs, sentences, words }: Captioned,
  names: ReadonlyArray<string> = []
): ReadonlyArray<Unit> => {
  const byTurn = Map.groupBy(words, ({ turn = 0 }) => turn)
  return inputs.flatMap((input, turn) => {
    const own = byTurn.get(turn) ?? []
    const starts = new Set(sentences.filter((sentence) => sentence.turn === turn).map(({ start }) => start))
    const texts = isSsml(input) ? textsOfMarkup(input, own) : textsOfPlain(input, own)
    const spoken = own.flatMap((word, at) => {
      const next = own[at + 1]
      const ends = next === undefined ? "turn" : starts.has(next.start) ? "sentence" : undefined
      return piecesOf({ ...(texts[at] ?? emptyText), word, ends, turn })
    })
    const [first] = spoken
    const name = names[turn]
    if (first === undefined || name === undefined || name === names[turn - 1]) return spoken
    const label = `${shortened(name.toUpperCase())}:`
    const { startMs } = first
    return [
      {
        text: label,
        columns: columnsOf(label),
        isSpaced: true,
        startMs,
        endMs: startMs,
        ends: "nothing",
        turn
      } as const,
      { ...first, isSpaced: true },
      ...spoken.slice(1)
    ]
  })
}

const wide =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u

export const columnsOf = (text: string): number =>
  Array.from(text).reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0)

const shortened = (name: string) => {
  const [head = "", rest] = cutAt(name, nameMax - 1)
  return rest === undefined ? head : `${head}…`
}

interface WrittenText {
  readonly text: string
  readonly isSpaced: boolean
}
const emptyText: WrittenText = { text: "", isSpaced: true }

const inOneLine = (text: string) => text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim()

/** Each word with the signs up to the next one; the first has those before it too. */
const textsOfPlain = (input: string, words: ReadonlyArray<WordMark>): ReadonlyArray<WrittenText> => {
  const text = input.toWellFormed()
  return words.map(({ start }, at) => ({
    text: inOneLine(text.slice(at === 0 ? 0 : start, words[at + 1]?.start)),
    isSpaced: /\s/u.test(text[start - 1] ?? " ")
  }))
}

/** Signs between words belong to the word before them; metadata is not said. */
const textsOfMarkup = (input: string, words: ReadonlyArray<WordMark>): ReadonlyArray<WrittenText> =>
  words.map(({ start, end }, at) => {
    const [after = ""] = input.slice(end, words[at + 1]?.start).split(metadata)
    const before = input.slice(words[at - 1]?.end ?? 0, start)
    return {
      text: inOneLine(withoutMarkup(input.slice(start, end)) + withoutMarkup(after)),
      isSpaced: /\s/u.test(before.replaceAll(tag, spaceOf))
    }
  })

const metadata = /<(?:[\w.-]{1,40}:)?metadata\b/u
const tag = /<(\/?(?:[\w.-]{1,40}:)?(?:p|s|break)\b)?[^<>]*>/gu
const spaceOf = (_: string, divides: string | undefined) => (divides === undefined ? "" : " ")

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const withoutMarkup = (markup: string) =>
  markup
    .replaceAll(/<!\[CDATA\[|\]\]>|<[^<>]*>/gu, "")
    .replaceAll(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,8}));/gu, (_, decimal, hexadecimal, name) =>
      name === undefined
        ? String.fromCodePoint(Math.min(0x10ffff, decimal === undefined ? parseInt(hexadecimal, 16) : Number(decimal)))
        : (entities[name] ?? "")
    )

interface WordPlaced extends WrittenText {
  readonly word: WordMark
  readonly ends: "turn" | "sentence" | undefined
  readonly turn: number
}

/** What is too long for a line is divided at its spaces, else between characters; its time is in proportion. */
const piecesOf = ({ ends, isSpaced, text, turn, word }: WordPlaced): ReadonlyArray<Unit> => {
  const whole = Math.max(1, columnsOf(text))
  const pieces = whole <= lineMax ? [text] : text.split(" ").flatMap(cutToLines)
  let begun = 0
  let cut = 0
  return pieces.map((piece, at) => {
    const columns = columnsOf(piece)
    const timeAt = (column: number) => word.start_time + ((word.end_time - word.start_time) * column) / whole
    const isLast = at === pieces.length - 1
    const unit: Unit = {
      text: piece,
      columns,
      isSpaced: at === 0 ? isSpaced : text[cut] === " ",
      startMs: timeAt(begun),
      endMs: isLast ? word.end_time : timeAt(begun + columns),
      ends: isLast && ends !== undefined ? ends : endsWithClause(piece) && !abbreviated.test(piece) ? "clause" : "word",
      turn
    }
    cut += piece.length + (at > 0 && unit.isSpaced ? 1 : 0)
    begun += columns
    return unit
  })
}

/** A full stop that ends no sentence. */
const abbreviated = /[\p{L}\p{N}]\.$/u

const cutToLines = (text: string): ReadonlyArray<string> => {
  const [head, rest] = cutAt(text, lineMax)
  return rest === undefined ? [head] : [head, ...cutToLines(rest)]
}

/** As much of the text as fits, without dividing a character; then the rest, if there is one. */
const cutAt = (text: string, columnsMax: number): readonly [head: string, rest?: string] => {
  let columns = 0
  for (const { index, segment } of graphemes.segment(text)) {
    columns += columnsOf(segment)
    if (columns > columnsMax && index > 0) return [text.slice(0, index), text.slice(index)]
  }
  return [text]
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })
