/**
 * Turns an engine's word starts into marks of the caller's own words: pure. An engine reports several starts for one
 * word of the input ("$1,234.56" is nine), or none. The first one within a word counts; a word without any is placed
 * between its neighbours by its position in the text. A word ends where the next one starts, the last one where the
 * speech falls silent.
 */
import { type PhonemeMark, speechSampleRateHz, type WordMark, type WordStart } from "#speech/contract"
import type { Token } from "./text/chunker.ts"

interface AlignChunk {
  readonly tokens: ReadonlyArray<Token>
  /** The starts of words, and of phonemes if they were asked for, as the engine reported them; their samples count from the chunk's first. */
  readonly words: ReadonlyArray<WordStart>
  /** Where the chunk's speech begins on the session's timeline, after the pause before it. */
  readonly speechStartSample: number
  /** The end of the chunk's last sound, counted from the chunk's first sample. */
  readonly speechEndSample: number
  readonly turn: number | undefined
}

export const alignChunk = (chunk: AlignChunk): ReadonlyArray<WordMark> => {
  const starts = monotone(interpolated(chunk, firstStarts(chunk)))
  return chunk.tokens.map(({ start, end, value }, index) => {
    const from = starts[index] ?? 0
    const to = Math.max(from, starts[index + 1] ?? chunk.speechEndSample)
    const times = { start_time: timeOf(chunk.speechStartSample + from), end_time: timeOf(chunk.speechStartSample + to) }
    const turn = chunk.turn === undefined ? {} : { turn: chunk.turn }
    return { type: "word" as const, start, end, ...times, value, ...turn }
  })
}

/** The phonemes that the engine told, each of them until the next one or a pause. */
export const alignPhonemes = (chunk: AlignChunk): ReadonlyArray<PhonemeMark> => {
  const { speechEndSample, speechStartSample, tokens, turn, words } = chunk
  const told = words.filter(({ phoneme }) => phoneme !== undefined)
  let token = 0
  let last = 0
  return told.flatMap(({ phoneme = "", sample, ...place }, at) => {
    while (token + 1 < tokens.length && !isBefore(place, tokens[token + 1])) token += 1
    const spoken = tokens[token]
    if (phoneme === "" || spoken === undefined) return []
    const from = Math.max(last, sample)
    last = Math.max(from, Math.min(told[at + 1]?.sample ?? speechEndSample, Math.max(from, speechEndSample)))
    const { end, start } = spoken
    const times = { start_time: timeOf(speechStartSample + from), end_time: timeOf(speechStartSample + last) }
    return [{ type: "phoneme", start, end, ...times, value: phoneme, ...(turn === undefined ? {} : { turn }) }] as const
  })
}

const isBefore = ({ piece, position }: Pick<WordStart, "piece" | "position">, token: Token | undefined) =>
  token !== undefined && (piece < token.piece || (piece === token.piece && position < token.textStart))

/** The time of a sample in milliseconds, rounded to a tenth. */
export const timeOf = (sample: number): number => Math.round((sample * 10_000) / speechSampleRateHz) / 10

/** Tokens and words both come in text order, so one pass finds each token's first word. */
const firstStarts = ({ tokens, words }: AlignChunk): Array<number | undefined> => {
  const starts: Array<number | undefined> = tokens.map(() => undefined)
  let index = 0
  for (const word of words) {
    if (word.phoneme !== undefined) continue
    while (index < tokens.length && isBehind(tokens[index], word)) index += 1
    const token = tokens[index]
    if (token === undefined) break
    if (token.piece !== word.piece || word.position < token.textStart) continue
    starts[index] ??= word.sample
  }
  return starts
}

const isBehind = (token: Token | undefined, word: WordStart) =>
  token !== undefined && (token.piece < word.piece || (token.piece === word.piece && token.textEnd <= word.position))

const interpolated = ({ tokens, speechEndSample }: AlignChunk, starts: ReadonlyArray<number | undefined>) => {
  const widths = cumulativeWidths(tokens)
  const result: Array<number> = []
  let before = { at: 0, sample: 0 }
  for (let index = 0; index < starts.length; index++) {
    const known = starts[index]
    const at = widths[index] ?? 0
    if (known === undefined) {
      const next = nextKnown(starts, index)
      const after =
        next === undefined
          ? { at: widths.at(-1) ?? at, sample: speechEndSample }
          : { at: widths[next] ?? at, sample: starts[next] ?? speechEndSample }
      const share = after.at === before.at ? 0 : (at - before.at) / (after.at - before.at)
      result.push(Math.round(before.sample + Math.max(0, after.sample - before.sample) * share))
    } else result.push(known)
    before = { at, sample: result[index] ?? 0 }
  }
  return result
}

/** Where each token starts if all were laid end to end, and finally where the last one ends. */
const cumulativeWidths = (tokens: ReadonlyArray<Token>) => {
  const widths = [0]
  for (const token of tokens) widths.push((widths.at(-1) ?? 0) + token.textEnd - token.textStart)
  return widths
}

const nextKnown = (starts: ReadonlyArray<number | undefined>, from: number) => {
  for (let index = from + 1; index < starts.length; index++) if (starts[index] !== undefined) return index
  return undefined
}

const monotone = (starts: ReadonlyArray<number>) => {
  let highest = 0
  return starts.map((start) => (highest = Math.max(highest, start)))
}
