/**
 * Runs into chunks: what a synthesizer is given at once, a sentence or a part of one, in the order of the input.
 * Each chunk carries the words whose times will be marked. Between chunks is the silence that was asked for.
 */
import type { Chunk, Reading, Sentence, Token } from "./chunks.ts"
import { chunkEnds } from "./cuts.ts"
import { type Passage, passageOf } from "./passage.ts"
import type { Run } from "./runs.ts"
import { sentenceRanges } from "./sentence-ranges.ts"
import { sameStyle, type Style } from "./style.ts"
import { type Word, wordsOf } from "./words.ts"

export const readRuns = (input: string, runs: ReadonlyArray<Run>, locale: string): Reading => {
  const passage = passageOf(runs)
  const words = wordsOf(passage, locale)
  const silences = silencesBefore(passage, words)
  const silence = (word: number) => silences[word] ?? 0
  // Punctuation has no marks of its own, unless there is nothing else to mark.
  const marksAll = !words.some((word) => word.isSpoken)
  const chunks: Array<Chunk> = []
  const sentences: Array<Sentence> = []
  for (const [from, to] of sentenceRanges(passage, words, locale)) {
    const [start, end] = [startOf(passage, words[from]), endOf(passage, words[to - 1])]
    const sentence = sentences.length
    sentences.push({ index: sentence, start, end, value: input.slice(start, end) })
    let at = from
    for (let next = from + 1; next <= to; next += 1) {
      if (next < to && silence(next) === 0) continue
      for (const cut of chunkEnds(passage, words, at, next, chunks.length === 0)) {
        const index = chunks.length
        const pauseBeforeMs = index === 0 ? silence(0) : 0
        const spoken = spokenOf(input, passage, words.slice(at, cut), marksAll)
        chunks.push({ index, sentence, ...spoken, pauseBeforeMs, pauseAfterMs: silence(cut) })
        at = cut
      }
    }
  }
  if (chunks.length === 0 && silence(0) > 0) {
    chunks.push({ index: 0, sentence: 0, pieces: [], pauseBeforeMs: silence(0), pauseAfterMs: 0, tokens: [] })
  }
  return { chunks, sentences }
}

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

const spokenOf = (input: string, passage: Passage, words: ReadonlyArray<Word>, marksAll: boolean) => {
  const bounds: Array<{ from: number; to: number; readonly style: Style }> = []
  const tokens: Array<Token> = []
  for (const word of words) {
    const { style } = word.segment
    let piece = bounds.at(-1)
    if (piece === undefined || !sameStyle(piece.style, style)) {
      // The space between two pieces stays with the first.
      if (piece !== undefined) piece.to = word.from
      piece = { from: word.from, to: word.to, style }
      bounds.push(piece)
    }
    piece.to = word.to
    if (!word.isSpoken && !marksAll) continue
    const [start, end] = [startOf(passage, word), endOf(passage, word)]
    const [textStart, textEnd] = [word.from - piece.from, word.to - piece.from]
    tokens.push({ piece: bounds.length - 1, textStart, textEnd, start, end, value: input.slice(start, end) })
  }
  return { pieces: bounds.map(({ from, style, to }) => ({ text: passage.text.slice(from, to), style })), tokens }
}
