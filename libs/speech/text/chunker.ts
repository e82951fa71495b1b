/**
 * From runs to chunks. A chunk is the text that a synthesizer gets at once, a sentence or a part of one, in input
 * order. Each chunk carries the words whose times will be marked. The requested silence goes between chunks.
 */
import type { ChunkPiece, Pronunciation } from "#speech/contract"
import { type Passage, passageOf, type Run, type Span } from "./runs.ts"
import { sentenceRanges } from "./sentences.ts"
import { type Word, wordsOf } from "./words.ts"
import { sameStyle, type Style } from "./style.ts"

/** A word whose time will be marked; offsets are UTF-16 units. */
export interface Token {
  /** Index of its piece in the chunk, and its position in that piece's text. */
  readonly piece: number
  readonly textStart: number
  readonly textEnd: number
  /** Its position in the input; `value` is that slice. */
  readonly start: number
  readonly end: number
  readonly value: string
}

/** The text that a synthesizer gets at once: a piece for each style. */
export interface Chunk {
  readonly pieces: ReadonlyArray<ChunkPiece>
  readonly pauseBeforeMs: number
  readonly pauseAfterMs: number
  readonly tokens: ReadonlyArray<Token>
  /** The language if another voice speaks it, as `SpeechTurn.otherVoices` names the language or the script. */
  readonly language?: string
  /** The sentence continues in the next chunk, at once or after a requested silence. */
  readonly goesOn?: true
}

/** An input that was understood. A chunk never crosses a sentence. */
export interface Reading {
  readonly chunks: ReadonlyArray<Chunk>
  readonly sentences: ReadonlyArray<Span>
}

export const readRuns = (input: string, runs: ReadonlyArray<Run>, locale: string): Reading => {
  const passage = passageOf(runs)
  const words = wordsOf(passage, locale)
  const silences = silencesBefore(passage, words)
  const silence = (word: number) => silences[word] ?? 0
  if (!words.some((word) => word.isSpoken)) return silentFor(silences.reduce((sum, ms) => sum + ms, 0))
  const chunks: Array<Chunk> = []
  const sentences: Array<Span> = []
  for (const [from, to] of sentenceRanges(passage, words, locale)) {
    sentences.push({ start: startOf(passage, words[from]), end: endOf(passage, words[to - 1]) })
    let at = from
    for (let next = from + 1; next <= to; next += 1) {
      const isSameVoice = words[next]?.segment.language === words[at]?.segment.language
      if (next < to && silence(next) === 0 && isSameVoice) continue
      for (const cut of chunkEnds(passage, words, { from: at, to: next, isFirst: chunks.length === 0 })) {
        const spoken = spokenOf(input, passage, words.slice(at, cut))
        const pauseBeforeMs = chunks.length === 0 ? silence(0) : 0
        const goesOn = cut < to
        chunks.push({ ...spoken, ...voicedBy(words[at], goesOn), pauseBeforeMs, pauseAfterMs: silence(cut) })
        at = cut
      }
    }
  }
  return { chunks, sentences }
}

/** Punctuation alone leaves only the requested silence. */
const silentFor = (pauseBeforeMs: number): Reading => ({
  chunks: pauseBeforeMs === 0 ? [] : [{ pieces: [], pauseBeforeMs, pauseAfterMs: 0, tokens: [] }],
  sentences: []
})

const voicedBy = (word: Word | undefined, goesOn: boolean): Pick<Chunk, "language" | "goesOn"> => ({
  ...(word?.segment.language === undefined ? {} : { language: word.segment.language }),
  ...(goesOn ? { goesOn } : {})
})

const startOf = (passage: Passage, word: Word | undefined) => (word ? (passage.starts[word.from] ?? 0) : 0)
const endOf = (passage: Passage, word: Word | undefined) => (word ? (passage.ends[word.to - 1] ?? 0) : 0)

/** The milliseconds of silence before each word, and after the last. */
const silencesBefore = ({ pauses }: Passage, words: ReadonlyArray<Word>) => {
  const silences = Array.from({ length: words.length + 1 }, () => 0)
  let word = 0
  for (const { at, milliseconds } of pauses) {
    while ((words[word]?.from ?? Infinity) < at) word += 1
    silences[word] = (silences[word] ?? 0) + milliseconds
  }
  return silences
}

const spokenOf = (input: string, passage: Passage, words: ReadonlyArray<Word>) => {
  const bounds: Array<PieceBounds> = []
  const tokens: Array<Token> = []
  for (const word of words) {
    const { ipa, style } = word.segment
    let piece = bounds.at(-1)
    if (piece === undefined || !sameStyle(piece.style, style)) {
      // The space between two pieces stays with the first.
      if (piece !== undefined) piece.to = word.from
      piece = { from: word.from, to: word.to, style, pronunciations: [] }
      bounds.push(piece)
    }
    piece.to = word.to
    if (ipa !== undefined) piece.pronunciations.push({ from: word.from - piece.from, to: word.to - piece.from, ipa })
    if (!word.isSpoken) continue
    const [start, end] = [startOf(passage, word), endOf(passage, word)]
    const [textStart, textEnd] = [word.from - piece.from, word.to - piece.from]
    tokens.push({ piece: bounds.length - 1, textStart, textEnd, start, end, value: input.slice(start, end) })
  }
  return { pieces: bounds.map((piece) => pieceOf(passage, piece)), tokens }
}

interface PieceBounds {
  from: number
  to: number
  readonly style: Style
  readonly pronunciations: Array<Pronunciation>
}

const pieceOf = ({ text }: Passage, { from, to, style, pronunciations }: PieceBounds): ChunkPiece => ({
  text: text.slice(from, to),
  ...style,
  ...(pronunciations.length === 0 ? {} : { pronunciations })
})

/**
 * The limits at which a sentence is cut into chunks. The first chunk of an input is short, so that it is heard soon: a
 * long sentence then ends it at a clause. Later, only a sentence that is too long to synthesize at once is cut: at a
 * clause, else at a space, else between words. A word is never cut. Lengths are UTF-16 units of the spoken text.
 */
export const chunkLimits = {
  firstMin: 10,
  firstMax: 120,
  /** A later chunk does not end at a clause before this. */
  clauseMin: 100,
  chunkMax: 400
}

const clauseEnd = /[,;:–—؛،.!?…]["'”’»)\]]{0,3}$|\)$/u
/** In Chinese and Japanese no space follows a clause. */
const wideClauseEnd = /[，、；：。！？…][”’」』）》]{0,3}$/u

/** The ends, as indices into `words`, of the chunks of the words from `from` to `to`. */
const chunkEnds = (
  passage: Passage,
  words: ReadonlyArray<Word>,
  { from, to, isFirst }: Stretch & { readonly isFirst: boolean }
): ReadonlyArray<number> => {
  const ends: Array<number> = []
  let at = from
  if (isFirst && lengthOf(words, at, to) > chunkLimits.firstMax) {
    at = cutBefore(passage, words, { from: at, to, ...firstCut })
    ends.push(at)
  }
  while (lengthOf(words, at, to) > chunkLimits.chunkMax) {
    at = cutBefore(passage, words, { from: at, to, ...laterCut })
    ends.push(at)
  }
  if (at < to) ends.push(to)
  return ends
}

interface Stretch {
  readonly from: number
  readonly to: number
}

interface Cut {
  readonly lengthMax: number
  /** Clauses that end earlier do not count. */
  readonly clauseMin: number
  /** The first clause, or else the last that fits. */
  readonly isSoonest: boolean
}

const firstCut: Cut = { lengthMax: chunkLimits.firstMax, clauseMin: chunkLimits.firstMin, isSoonest: true }
const laterCut: Cut = { lengthMax: chunkLimits.chunkMax, clauseMin: chunkLimits.clauseMin, isSoonest: false }

const lengthOf = (words: ReadonlyArray<Word>, from: number, to: number) =>
  from < to ? (words[to - 1]?.to ?? 0) - (words[from]?.from ?? 0) : 0

/** The end of the first chunk of a stretch. A chunk has at least one word. */
const cutBefore = (
  passage: Passage,
  words: ReadonlyArray<Word>,
  { from, to, lengthMax, clauseMin, isSoonest }: Stretch & Cut
): number => {
  let [clause, space, any] = [0, 0, from + 1]
  for (let end = from + 1; end < to && lengthOf(words, from, end) <= lengthMax; end += 1) {
    any = end
    const isSpace = words[end - 1]?.to !== words[end]?.from
    if (isSpace) space = end
    if (lengthOf(words, from, end) >= clauseMin && endsClause(passage, words[end - 1], isSpace)) {
      clause = end
      if (isSoonest) break
    }
  }
  return clause || space || any
}

const endsClause = ({ text }: Passage, word: Word | undefined, isSpace: boolean) => {
  if (word === undefined) return false
  const end = text.slice(Math.max(word.from, word.to - 4), word.to)
  return isSpace ? endsWithClause(end) : wideClauseEnd.test(end)
}

/** Whether a text before a space ends as a clause does. */
export const endsWithClause = (text: string): boolean => wideClauseEnd.test(text) || clauseEnd.test(text)
