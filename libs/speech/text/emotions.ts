/**
 * The thirteen emotions, as changes to how a voice speaks. Chosen so that any two of them can be told apart by
 * ear on a voice without emotions of its own. Range is how far the pitch moves about its middle.
 */
import type { Prosody } from "./prosody.ts"

const row = (ratePercent: number, pitchPercent: number, rangePercent: number, volumeDb: number): Prosody => ({
  ratePercent,
  pitchPercent,
  rangePercent,
  volumeDb
})

export const emotions = {
  angry: row(112, 106, 155, 6),
  cheerful: row(108, 118, 150, 2),
  sad: row(80, 86, 55, -5),
  terrified: row(130, 140, 170, 4),
  relaxed: row(84, 94, 90, -4),
  fearful: row(116, 124, 110, -3),
  surprised: row(100, 130, 190, 3),
  calm: row(93, 98, 65, -1),
  assertive: row(98, 92, 125, 4),
  energetic: row(122, 110, 140, 4),
  warm: row(92, 104, 120, -2),
  direct: row(106, 97, 75, 2),
  bright: row(103, 114, 120, 0)
} as const satisfies Record<string, Prosody>

export type Emotion = keyof typeof emotions

export const isEmotion = (name: string): name is Emotion => Object.hasOwn(emotions, name)
