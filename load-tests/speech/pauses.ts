/** How long a voice is silent at each punctuation mark: as it is heard, and as its marks say. Pure. */
import type { WordMark } from "./client.ts"
import { decodedHz } from "./decode.ts"

const kinds = { ",": "comma", ";": "semicolon", ":": "colon", ".": "full stop", "?": "question", "!": "exclamation" }
export const pauseKinds = Object.values(kinds)

/** What each is to last at speed 1; docs/speech-engines.md says the same. */
export const pauseMs: Readonly<Record<string, number>> = {
  comma: 160,
  semicolon: 240,
  colon: 240,
  "full stop": 320,
  question: 320,
  exclamation: 320
}

export interface Pause {
  readonly kind: string
  /** The longest silence between the two words. */
  readonly heardMs: number
  /** From the end of the word before to the start of the word after. */
  readonly markedMs: number
}

/** 40 dB below full scale: above a model's hiss, below speech. */
const audible = 330

/** In milliseconds, the longest stretch without a sample that is heard. */
const longestSilence = (pcm: Int16Array, fromMs: number, toMs: number): number => {
  const end = Math.min(pcm.length, (toMs * decodedHz) / 1_000)
  let [longest, begun] = [0, Math.round((fromMs * decodedHz) / 1_000)]
  for (let index = begun; index < end; index++) {
    if (Math.abs(pcm[index] ?? 0) <= audible) continue
    longest = Math.max(longest, index - begun)
    begun = index + 1
  }
  return (Math.max(longest, end - begun) * 1_000) / decodedHz
}

/** A mark may be early: what follows it may begin so much later. */
const lateMs = 150

export const pausesOf = (text: string, pcm: Int16Array, marks: ReadonlyArray<WordMark>): ReadonlyArray<Pause> =>
  marks.flatMap((mark, index) => {
    const next = marks[index + 1]
    if (next === undefined) return []
    // A mark may take its word's punctuation in.
    const between = text.slice(mark.start, next.start).match(/[,;:.?!]/u)?.[0] as keyof typeof kinds | undefined
    if (between === undefined) return []
    const heardMs = longestSilence(pcm, mark.start_time, next.start_time + lateMs)
    return [{ kind: kinds[between], heardMs, markedMs: next.start_time - mark.end_time }]
  })
