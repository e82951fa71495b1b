/**
 * A job as models speak it. Neighbouring pieces of one style are spoken together, because a model needs an entire
 * sentence to find its melody. Pure.
 */
import type { Pronunciation, WordStart } from "#speech/contract"
import type { EngineJob } from "../Engine.ts"
import { withoutControls } from "./serve.ts"

export interface Passage {
  readonly text: string
  /** Factors: 1 leaves the voice unchanged. */
  readonly speed: number
  readonly pitch: number
  readonly range: number
  readonly gainDb: number
  /** The pieces that make up the text, and where in it each starts. */
  readonly parts: ReadonlyArray<{ readonly piece: number; readonly from: number }>
  /** By their positions in this text. */
  readonly pronunciations: ReadonlyArray<Pronunciation>
}

/** The widest `speed` of a request, times what a voice and its text ask for. */
const speedReach = { min: 0.1, max: 10 }
const pitchReach = { min: 0.5, max: 2 }

/** `hasPitch`: the model can speak higher and lower. A piece with nothing to say is left out: it would make a sound. */
export const passagesOf = ({ voice, pieces }: EngineJob, hasPitch = true): ReadonlyArray<Passage> => {
  const passages: Array<Passage> = []
  for (const [index, piece] of pieces.entries()) {
    const speed = within(speedReach, (voice.ratePercent * piece.ratePercent) / 10_000)
    const pitch = hasPitch ? within(pitchReach, (voice.pitchPercent * piece.pitchPercent) / 10_000) : 1
    const range = hasPitch ? (voice.rangePercent * piece.rangePercent) / 10_000 : 1
    const gainDb = voice.gainDb + piece.volumeDb
    const text = withoutControls(piece.text)
    const before = passages.at(-1)
    const ownPronunciations = piece.pronunciations ?? []
    const isSame =
      before?.speed === speed && before.pitch === pitch && before.range === range && before.gainDb === gainDb
    if (before !== undefined && isSame) {
      const parts = [...before.parts, { piece: index, from: before.text.length }]
      const { length } = before.text
      const moved = ownPronunciations.map(({ from, to, ipa }) => ({ from: from + length, to: to + length, ipa }))
      const pronunciations = [...before.pronunciations, ...moved]
      passages[passages.length - 1] = { ...before, text: before.text + text, parts, pronunciations }
    } else {
      const parts = [{ piece: index, from: 0 }]
      passages.push({ text, speed, pitch, range, gainDb, parts, pronunciations: ownPronunciations })
    }
  }
  return passages.filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
}

/** A word of a passage by its position in the job. */
export const wordAt = ({ parts }: Passage, position: number, sample: number): WordStart => {
  const part = parts.findLast(({ from }) => from <= position) ?? { piece: 0, from: 0 }
  return { piece: part.piece, position: position - part.from, sample }
}

const within = ({ min, max }: { readonly min: number; readonly max: number }, value: number) =>
  Math.max(min, Math.min(max, value))

/** Samples between -1 and 1 as 16-bit numbers. */
export const toPcm = (samples: Float32Array): Int16Array =>
  Int16Array.from(samples, (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767))
