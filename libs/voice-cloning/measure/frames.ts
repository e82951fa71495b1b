/** Samples cut into overlapping stretches, and the loudness of each: the first step of every measure of a voice. */

/** All of the pitch and most of the syllables' energy lies below half of this. */
export const voiceHz = 8_000
/** One frame begins every ten milliseconds. */
export const hopSeconds = 0.01

/** Mean power of each frame in decibels relative to full scale; -100 for silence. */
export const frameLevels = (pcm: Int16Array, hz: number, windowSeconds: number): Float64Array => {
  const hop = Math.round(hz * hopSeconds)
  const window = Math.round(hz * windowSeconds)
  const levels = new Float64Array(Math.max(0, Math.floor((pcm.length - window) / hop) + 1))
  for (let frame = 0; frame < levels.length; frame++) {
    let sum = 0
    for (let at = frame * hop; at < frame * hop + window; at++) sum += (pcm[at] ?? 0) ** 2
    levels[frame] = 10 * Math.log10(sum / window / 32_768 ** 2 + 1e-10)
  }
  return levels
}

/** The value below which `share` of the others lie; undefined for an empty list. */
export const quantile = (values: ArrayLike<number>, share: number): number | undefined => {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
