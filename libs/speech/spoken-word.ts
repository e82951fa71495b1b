/** One word, spoken to nobody: the least work that shows that an engine makes sound. Pure. */
import type { ChunkPiece } from "#speech/contract"
import type { Catalogue } from "./catalogue.ts"

export const spokenWord: ChunkPiece = {
  text: "one",
  ratePercent: 100,
  pitchPercent: 100,
  rangePercent: 100,
  volumeDb: 0
}

/** A voice to say it with; undefined for an engine that only has the voices of others' recordings. */
export const voiceOfEngine = ({ voices }: Pick<Catalogue, "voices">, name: string) =>
  voices.find(({ engine }) => engine.engine === name)

// The noise floor of the engines is about 20.
const audible = 100

export const isAudible = (pcm: Int16Array): boolean => pcm.some((sample) => Math.abs(sample) > audible)
