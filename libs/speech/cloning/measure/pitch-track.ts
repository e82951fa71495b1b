/**
 * The pitch of a voice, every ten milliseconds: the lag at which the signal differs least from itself (the difference
 * function of YIN, de Cheveigné and Kawahara 2002). If several lags do almost equally well the shortest counts, so that
 * two periods are not taken for one. A second pass searches only around the median of the first, which corrects octaves
 * that noise shifted. Pure.
 */
import { resample } from "#speech/audio/resample"

const pitchHz = { min: 50, max: 500 }
const windowSeconds = 0.025
/** A frame's window and the step to the next frame are multiples of this: what two frames share is added up once. */
const blockSeconds = 0.005
/** How much a voiced stretch may differ from itself after a period: 0 is a tone, 1 is noise. */
const differenceMax = 0.4
/** How much deeper another dip must be to count instead of an earlier one. */
const clearlyDeeper = 0.07
/** An entire frame further below the loud parts than this is breath or room. */
const belowLoudDb = 30
/** The second pass looks this far around the median. */
const octaveMargin = 1.8
/** Shorter than this is a click. */
const runFramesMin = 4

/** Hz of each frame, NaN if not voiced. */
export const pitchTrack = (pcm: Int16Array, hz: number): Float64Array => {
  const samples = resample(pcm, hz, voiceHz)
  const levels = frameLevels(samples, voiceHz, windowSeconds)
  const floor = (quantile(levels, 0.95) ?? 0) - belowLoudDb
  const dipsOf = makeDips(samples)
  const frames = Array.from(levels, (level, frame) => (level < floor ? undefined : dipsOf(frame)))
  const track = (minHz: number, maxHz: number) =>
    withoutClicks(
      Float64Array.from(frames, (frame) => (frame === undefined ? Number.NaN : pitchAmong(frame, minHz, maxHz)))
    )
  const rough = quantile(track(pitchHz.min, pitchHz.max).filter(isVoiced), 0.5)
  if (rough === undefined) return levels.fill(Number.NaN)
  return track(Math.max(pitchHz.min, rough / octaveMargin), Math.min(pitchHz.max, rough * octaveMargin))
}

export const isVoiced = (pitch: number): boolean => !Number.isNaN(pitch)

/** What a frame reveals about its period: a dip does not depend on the range of lags searched. */
interface FrameDips {
  readonly dips: ReadonlyArray<Dip>
  /** The longest lag for which there are samples. */
  readonly lagMax: number
}

interface Dip {
  readonly lag: number
  /** The lag of its lowest point, which often lies between two samples. */
  readonly lowestAt: number
  readonly difference: number
}

const pitchAmong = ({ dips, lagMax }: FrameDips, minHz: number, maxHz: number) => {
  const [least, most] = [Math.floor(voiceHz / maxHz), Math.ceil(voiceHz / minHz)]
  if (most > lagMax) return Number.NaN
  const within = dips.filter(({ lag }) => lag >= least && lag <= most)
  const deepest = within.reduce((depth, dip) => Math.min(depth, dip.difference), 1)
  if (deepest > differenceMax) return Number.NaN
  const first = within.find(({ difference }) => difference <= deepest + clearlyDeeper)
  return first === undefined ? Number.NaN : voiceHz / first.lowestAt
}

const makeDips = (samples: Int16Array) => {
  const [lagLeast, lagMost] = [Math.floor(voiceHz / pitchHz.max), Math.ceil(voiceHz / pitchHz.min)]
  const window = Math.round(voiceHz * windowSeconds)
  const differencesFrom = makeDifferences(samples, window, lagMost + 1)
  return (frame: number): FrameDips => {
    const from = frame * Math.round(voiceHz * hopSeconds)
    const lagMax = Math.min(lagMost, samples.length - from - window - 2)
    const differences = differencesFrom(from)
    const dips: Array<Dip> = []
    for (let lag = lagLeast; lag <= lagMax; lag++) {
      const dip = dipAt(differences, lag)
      if (dip !== undefined) dips.push(dip)
    }
    return { dips, lagMax }
  }
}

/** The minimum of the curve through three neighbours. */
const dipAt = (differences: Float64Array, lag: number): Dip | undefined => {
  const [before, here, after] = [differences[lag - 1] ?? 1, differences[lag] ?? 1, differences[lag + 1] ?? 1]
  const bend = before - 2 * here + after
  if (here > before || here > after || bend <= 0) return undefined
  const aside = (before - after) / (2 * bend)
  return { lag, lowestAt: lag + aside, difference: Math.max(0, here - (bend * aside * aside) / 2) }
}

/**
 * For each lag: the difference at that lag, divided by the mean difference of all shorter lags. The numbers are valid
 * until the next call. Sums of squares of whole numbers are exact in any order.
 */
const makeDifferences = (samples: Int16Array, window: number, lags: number) => {
  const block = Math.round(voiceHz * blockSeconds)
  // No lag reaches beyond their end.
  const padded = new Float64Array(samples.length + window + lags)
  padded.set(samples)
  const blocks = Array.from({ length: window / block }, () => ({ from: -1, differences: new Float64Array(lags + 1) }))
  const normalised = new Float64Array(lags + 1)
  return (from: number) => {
    normalised.fill(0)
    for (let at = from; at < from + window; at += block) {
      const known = blocks[(at / block) % blocks.length]
      if (known === undefined) continue
      if (known.from !== at) addUp(padded, at, block, known.differences)
      known.from = at
      for (let lag = 1; lag <= lags; lag++) normalised[lag] = (normalised[lag] ?? 0) + (known.differences[lag] ?? 0)
    }
    normalise(normalised)
    return normalised
  }
}

const addUp = (samples: Float64Array, from: number, length: number, differences: Float64Array) => {
  for (let lag = 1; lag < differences.length; lag++) {
    let sum = 0
    for (let at = from; at < from + length; at++) {
      const difference = (samples[at] ?? 0) - (samples[at + lag] ?? 0)
      sum += difference * difference
    }
    differences[lag] = sum
  }
}

const normalise = (differences: Float64Array) => {
  let sum = 0
  differences[0] = 1
  for (let lag = 1; lag < differences.length; lag++) {
    const difference = differences[lag] ?? 0
    sum += difference
    differences[lag] = sum > 0 ? (difference * lag) / sum : 1
  }
}

/** A median of five over neighbours, without voiced stretches shorter than the core of a syllable. */
const withoutClicks = (track: Float64Array): Float64Array => {
  const clean = track.map((pitch, frame) =>
    isVoiced(pitch)
      ? (quantile(track.subarray(Math.max(0, frame - 2), frame + 3).filter(isVoiced), 0.5) ?? pitch)
      : pitch
  )
  let begun = 0
  for (let frame = 0; frame <= clean.length; frame++) {
    if (isVoiced(clean[frame] ?? Number.NaN)) continue
    if (frame - begun < runFramesMin) clean.fill(Number.NaN, begun, frame)
    begun = frame + 1
  }
  return clean
}

/** All of the pitch and most of the syllables' energy lies below half of this. */
export const voiceHz = 8_000
/** One frame begins every ten milliseconds. */
export const hopSeconds = 0.01

/**
 * The first step of every measure of a voice: mean power of each frame in decibels relative to full scale; -100 for
 * silence.
 */
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
