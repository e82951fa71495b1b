/** Where in the audio something begins to be heard: after 60 ms of silence at least. */
import { decodedHz } from "./decode.ts"

const audible = 100
const silentSamples = 0.06 * decodedHz

/** In milliseconds from the first sample. */
export const onsetsOf = (pcm: Int16Array): ReadonlyArray<number> => {
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
