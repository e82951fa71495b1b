import { assert } from "@effect/vitest"
import { Result } from "effect"
import { readInput } from "../../../libs/speech/read-input.ts"
import { type Chunk, chunkLimits, type Reading, type Token } from "../../../libs/speech/text/chunker.ts"
import type { Fault } from "../../../libs/speech/text/runs.ts"

/** Reads, or fails the test with the faults. */
export const read = (input: string, options: { textNormalization?: boolean; locale?: string } = {}): Reading =>
  Result.getOrThrowWith(
    readInput(input, { textNormalization: options.textNormalization ?? false, locale: options.locale ?? "en-US" }),
    (faults) => new Error(JSON.stringify(faults))
  )

export const faultsOf = (input: string): ReadonlyArray<Fault> => {
  const result = readInput(input, { textNormalization: false, locale: "en-US" })
  return Result.isFailure(result) ? result.failure : []
}

export const tokensOf = ({ chunks }: Reading): ReadonlyArray<Token> => chunks.flatMap(({ tokens }) => tokens)
export const wordsOf = (reading: Reading) => tokensOf(reading).map(({ value }) => value)
/** The index of the sentence in which a chunk begins; -1 for a chunk without words. */
export const sentenceOf = ({ tokens }: Chunk, { sentences }: Reading) =>
  sentences.findIndex(({ start, end }) => tokens[0] !== undefined && start <= tokens[0].start && tokens[0].start < end)
export const textOf = ({ chunks }: Reading) =>
  chunks.map(({ pieces }) => pieces.map(({ text }) => text).join("")).join("\n")

/** The laws of every reading, for any input. */
export const assertLaws = (input: string, reading: Reading) => assert.isUndefined(brokenLaw(input, reading), input)

// One assertion for all of it: thousands of readings are checked.
const brokenLaw = (input: string, reading: Reading): unknown => {
  const { chunks, sentences } = reading
  let [end, lastSentence] = [0, 0]
  for (const chunk of chunks) {
    const { pieces, tokens } = chunk
    const sentence = sentenceOf(chunk, reading)
    let place = { piece: 0, textEnd: 0 }
    for (const token of tokens) {
      if (input.slice(token.start, token.end) !== token.value) return { "not its slice": token }
      if (token.start < end || token.end <= token.start) return { "out of order": token }
      end = token.end
      const least = token.piece === place.piece ? place.textEnd : 0
      const most = pieces[token.piece]?.text.length ?? 0
      if (token.piece < place.piece || token.textStart < least) return { "out of order in its text": token }
      if (token.textEnd <= token.textStart || token.textEnd > most) return { "outside its text": token }
      place = token
      const span = sentences[sentence]
      if (span === undefined || span.start > token.start || token.end > span.end)
        return { "not in its sentence": token }
    }
    const text = pieces.map(({ text }) => text).join("")
    if (text !== text.trim() || !text.isWellFormed()) return { "not clean": text }
    if (text.length > chunkLimits.chunkMax && tokens.length > 1) return { "too long": text }
    if (tokens.length > 0 && sentence < lastSentence) return { "sentence out of order": sentence }
    lastSentence = Math.max(lastSentence, sentence)
  }
  let last = 0
  for (const sentence of sentences) {
    if (sentence.end <= sentence.start || sentence.end > input.length) return { "not a part of the input": sentence }
    if (sentence.start < last) return { "out of order": sentence }
    last = sentence.end
  }
  return undefined
}

/** Every letter and digit of a plain text is in exactly one token, and no unit of it is unspoken. */
export const assertCovered = (input: string, reading: Reading) => {
  const covers = new Uint8Array(input.length)
  for (const { end, start } of tokensOf(reading))
    for (let at = start; at < end; at += 1) covers[at] = (covers[at] ?? 0) + 1
  const wrong = Array.from(input.matchAll(/[\p{L}\p{N}]/gu)).filter(({ index }) => covers[index] !== 1)
  assert.deepStrictEqual(wrong, [])
  const bare = (text: string) => text.replaceAll(/[\s\p{Cc}\ufffd]/gu, "")
  assert.strictEqual(bare(textOf(reading)), bare(input.toWellFormed()))
}

/** A seeded source of numbers from 0 to 1, so that a failure comes again. */
export const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
}
