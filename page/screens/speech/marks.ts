/** Which word is heard when, and where it stands in the text. */
import type { WordMark } from "#speech/contract"

/** The index of the word that sounds at that time of the audio; -1 in a pause. The marks are in the order of time. */
export const wordAt = (marks: ReadonlyArray<WordMark>, atMs: number): number => {
  let [from, to] = [0, marks.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((marks[middle]?.start_time ?? 0) <= atMs) from = middle + 1
    else to = middle
  }
  const last = marks[from - 1]
  return last !== undefined && atMs < last.end_time ? from - 1 : -1
}

export interface TextPiece {
  readonly text: string
  /** The index of its mark; undefined for what stands between words. */
  readonly word?: number
}

/** The text in pieces: each marked word, and what stands between. The marks may be those of several turns. */
export const piecesOf = (text: string, marks: ReadonlyArray<WordMark>, turn?: number): ReadonlyArray<TextPiece> => {
  const pieces: Array<TextPiece> = []
  let at = 0
  for (const [word, { start, end, turn: itsTurn }] of marks.entries()) {
    if (itsTurn !== turn || start < at) continue
    if (start > at) pieces.push({ text: text.slice(at, start) })
    pieces.push({ text: text.slice(start, end), word })
    at = end
  }
  return at < text.length ? [...pieces, { text: text.slice(at) }] : pieces
}

/** A stretch of sound that plays without a gap: when it begins by the audio clock, and where in the whole sound. */
export interface Stretch {
  readonly atSeconds: number
  readonly fromSample: number
  readonly samples: number
}

/** Where in the sound the ear is, in ms, by the audio clock less its way out; undefined before the first sound. */
export const playedMs = (
  stretches: ReadonlyArray<Stretch>,
  clockSeconds: number,
  sampleRateHz: number
): number | undefined => {
  const stretch = stretches.findLast(({ atSeconds }) => atSeconds <= clockSeconds)
  if (stretch === undefined) return undefined
  const played = Math.min((clockSeconds - stretch.atSeconds) * sampleRateHz, stretch.samples)
  return ((stretch.fromSample + played) * 1_000) / sampleRateHz
}
