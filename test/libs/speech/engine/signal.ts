/** Measurements of a voice: its loudness, its pitch, and the beginnings of sound after silence. */

export const rms = (pcm: Int16Array): number =>
  Math.sqrt(pcm.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, pcm.length))

export const decibels = (pcm: Int16Array): number => 20 * Math.log10(rms(pcm) / 32_768)

/** The share of `values` that lies below the answer is `share`. */
export const quantile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((left, right) => left - right)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN

const windowSeconds = 0.04
const [pitchMin, pitchMax] = [50, 500]

/** The pitch of a voice in Hz, and how far its melody goes: from its lowest tenth to its highest. */
export const melody = (pcm: Int16Array, hz = 24_000): { readonly pitch: number; readonly spread: number } => {
  const found = pitches(pcm, hz)
  return { pitch: quantile(found, 0.5), spread: quantile(found, 0.9) - quantile(found, 0.1) }
}

/** Hz of every voiced 40 ms, by autocorrelation: the first peak that is nearly as high as the highest. */
const pitches = (pcm: Int16Array, hz: number): ReadonlyArray<number> => {
  const length = Math.round(hz * windowSeconds)
  const samples = Float64Array.from(pcm)
  const found: Array<number> = []
  for (let from = 0; from + 2 * length < pcm.length; from += length) {
    const pitch = pitchAt(samples, from, length, hz)
    if (pitch !== undefined) found.push(pitch)
  }
  return found
}

const pitchAt = (samples: Float64Array, from: number, length: number, hz: number) => {
  const energy = power(samples, from, length)
  if (energy / length < 400_000) return undefined
  const [least, most] = [Math.floor(hz / pitchMax), Math.floor(hz / pitchMin)]
  const scores: Array<number> = []
  let later = power(samples, from + least, length)
  for (let lag = least; lag <= most; lag++) {
    scores.push(product(samples, from, length, lag) / Math.sqrt(energy * later + 1))
    // Whole numbers: what is added and taken away again leaves no rest.
    later += (samples[from + lag + length] ?? 0) ** 2 - (samples[from + lag] ?? 0) ** 2
  }
  const best = Math.max(...scores)
  if (best < 0.8) return undefined
  const peak = scores.findIndex(
    (score, at) => score > 0.92 * best && score >= (scores[at - 1] ?? 0) && score >= (scores[at + 1] ?? 0)
  )
  return hz / (least + peak)
}

const power = (samples: Float64Array, from: number, length: number) => product(samples, from, length, 0)

const product = (samples: Float64Array, from: number, length: number, lag: number) => {
  let sum = 0
  for (let at = from; at < from + length; at++) sum += (samples[at] ?? 0) * (samples[at + lag] ?? 0)
  return sum
}

/** Samples at which something is heard after at least 60 ms of silence. */
export const onsets = (pcm: Int16Array, hz = 24_000, threshold = 100): ReadonlyArray<number> => {
  const found: Array<number> = []
  let lastLoud = Number.NEGATIVE_INFINITY
  for (const [at, sample] of pcm.entries()) {
    if (Math.abs(sample) <= threshold) continue
    if (at - lastLoud > 0.06 * hz) found.push(at)
    lastLoud = at
  }
  return found
}
