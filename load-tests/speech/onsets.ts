/** Where in the audio something begins to be heard, after silence of a length that no sound within a word has. */
import { decodedHz } from "./decode.ts"

const audible = 100
/** Built from recordings or formulas, a stop is silent for less. */
const silentMsDefault = 60
/** A model holds its breath before p, t or k as people do, for up to a tenth of a second; its pauses are longer. */
export const modelSilentMs = 120

/** In milliseconds from the first sample. */
export const onsetsOf = (pcm: Int16Array, silentMs = silentMsDefault): ReadonlyArray<number> => {
  const silentSamples = (silentMs * decodedHz) / 1_000
  const onsets: Array<number> = []
  // What comes before the first sample is silent too.
  let lastHeard = -silentSamples
  for (let index = 0; index < pcm.length; index++) {
    if (Math.abs(pcm[index] ?? 0) <= audible) continue
    if (index - lastHeard > silentSamples) onsets.push((index * 1_000) / decodedHz)
    lastHeard = index
  }
  return onsets
}

/** How far each onset is from the start that is nearest to it. */
export const startErrors = (onsets: ReadonlyArray<number>, startsMs: ReadonlyArray<number>): ReadonlyArray<number> =>
  onsets.map((onset) => Math.min(...startsMs.map((start) => Math.abs(onset - start))))
