/**
 * The average shape of a vocal tract, and how far its formants are from those of espeak's own voice. The shape is the
 * spectral envelope of each voiced stretch, by linear prediction, and the mean of all of them in decibels, on a scale
 * on which a factor of frequency is a step to the side. Pure.
 */
import { resample } from "#speech/audio/resample"
import { frameLevels, hopSeconds, isVoiced, quantile } from "./pitch-track.ts"

/** Covers the four formants of almost every speaker. */
const envelopeHz = 10_000
/** Two poles for each of four formants, and some for the rest of the spectrum. */
const order = 12
const windowSeconds = 0.03
const emphasis = 0.97
const belowLoudDb = 15
/** More stretches than this, evenly sampled, change nothing. */
const framesMax = 800

/** The points of the envelope: from `lowestHz` up, each higher by `stepRatio`. */
const envelopeGrid = { lowestHz: 200, stepRatio: 1.04, points: 81 }

/** Decibels at each point of the grid; undefined for a recording without a voice. */
export const vocalEnvelope = (pcm: Int16Array, hz: number, track: Float64Array): Float64Array | undefined => {
  const samples = resample(pcm, hz, envelopeHz)
  const levels = frameLevels(samples, envelopeHz, windowSeconds)
  const floor = (quantile(levels, 0.95) ?? 0) - belowLoudDb
  const voiced = Array.from(levels.keys()).filter(
    (frame) => isVoiced(track[frame] ?? Number.NaN) && (levels[frame] ?? -100) > floor
  )
  if (voiced.length === 0) return undefined
  const each = Math.ceil(voiced.length / framesMax)
  const taken = voiced.filter((_, at) => at % each === 0)
  const mean = new Float64Array(envelopeGrid.points)
  for (const frame of taken) addEnvelope(mean, predictor(emphasised(samples, frame)), taken.length)
  return mean
}

const windowLength = Math.round(envelopeHz * windowSeconds)
const hamming = Float64Array.from(
  { length: windowLength },
  (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (windowLength - 1))
)

const emphasised = (samples: Int16Array, frame: number) => {
  const from = Math.round(frame * hopSeconds * envelopeHz)
  return hamming.map((weight, at) => weight * ((samples[from + at] ?? 0) - emphasis * (samples[from + at - 1] ?? 0)))
}

/** Levinson-Durbin recursion: the coefficients, and the unexplained rest. */
const predictor = (window: Float64Array) => {
  const correlation = Float64Array.from({ length: order + 1 }, (_, lag) => {
    let sum = 0
    for (let at = lag; at < window.length; at++) sum += (window[at] ?? 0) * (window[at - lag] ?? 0)
    return sum
  })
  // A little noise, so that silence also has a result.
  let rest = (correlation[0] ?? 0) * 1.0001 + 1
  let coefficients = new Float64Array(order + 1)
  coefficients[0] = 1
  for (let step = 1; step <= order; step++) {
    let sum = correlation[step] ?? 0
    for (let at = 1; at < step; at++) sum += (coefficients[at] ?? 0) * (correlation[step - at] ?? 0)
    const reflection = -sum / rest
    const next = coefficients.slice()
    for (let at = 1; at < step; at++) next[at] = (coefficients[at] ?? 0) + reflection * (coefficients[step - at] ?? 0)
    next[step] = reflection
    coefficients = next
    rest *= 1 - reflection * reflection
  }
  return { coefficients, rest }
}

/** Cosine and sine of every coefficient's position at every point of the grid. */
const turns = Array.from({ length: envelopeGrid.points }, (_, point) => {
  const angle = (2 * Math.PI * envelopeGrid.lowestHz * envelopeGrid.stepRatio ** point) / envelopeHz
  const places = Array.from({ length: order + 1 }, (_place, at) => at * angle)
  return { cosines: Float64Array.from(places, Math.cos), sines: Float64Array.from(places, Math.sin) }
})

const addEnvelope = (mean: Float64Array, { coefficients, rest }: ReturnType<typeof predictor>, count: number) => {
  for (const [point, { cosines, sines }] of turns.entries()) {
    let [real, imaginary] = [0, 0]
    for (let at = 0; at <= order; at++) {
      real += (coefficients[at] ?? 0) * (cosines[at] ?? 0)
      imaginary += (coefficients[at] ?? 0) * (sines[at] ?? 0)
    }
    const decibels = 10 * Math.log10(rest / (real * real + imaginary * imaginary))
    mean[point] = (mean[point] ?? 0) + decibels / count
  }
}

/** espeak-ng 1.51, en-us: the envelope at each point of the grid, in decibels. */
const reference = [
  0.3, 0.6, 0.9, 1.2, 1.6, 2, 2.5, 3, 3.6, 4.1, 4.6, 4.9, 5.2, 5.5, 5.9, 6.4, 7, 7.5, 7.9, 7.6, 7.2, 7, 6.8, 6.5, 5.9,
  5.4, 4.9, 4.3, 3.7, 3, 2.3, 1.4, 0.5, -0.4, -1.2, -1.9, -2.5, -3, -3.4, -3.7, -3.9, -3.9, -4, -3.8, -3.7, -3.8, -3.8,
  -3.9, -3.5, -3.6, -3.1, -3.8, -4.4, -4.4, -4.1, -3.9, -3, -3.3, -3.4, -3.6, -3.3, -2.2, -0.8, 0.9, 3.1, 5.8, 3.2, 1.2,
  0.4, 0.1, 0.7, 2.8, 5.2, 4.8, 2, 0.7, -2.7, -10.2, -16.7, -21, -23.9
]

const scalePercent = { min: 75, max: 135, step: 0.5 }
/** Of two shifts that fit about equally well the more usual one wins: a formant can match the neighbour of another. */
const rarity = 2
/** Below this range lies the voice itself, above it the part that telephones cut off. */
const comparedHz = { from: 300, to: 3_900 }

/**
 * The formants of a vocal tract in percent of those of espeak's own voice: the shift that best aligns one average
 * envelope with the other. The tilt of a microphone or of a way of speaking is removed first, and formants need not be
 * distinguished from their neighbours. The reference speaks English, but its average over sentences of German, Spanish,
 * French, Italian and Portuguese comes out within 1 %.
 */
export const formantScale = (envelope: ArrayLike<number>): number => {
  let [best, bestPercent] = [Number.NEGATIVE_INFINITY, 100]
  for (let percent = scalePercent.min; percent <= scalePercent.max; percent += scalePercent.step) {
    const likeness = correlation(envelope, percent / 100) - rarity * Math.log(percent / 100) ** 2
    if (likeness > best) [best, bestPercent] = [likeness, percent]
  }
  return bestPercent
}

const pointOf = (hz: number) => Math.log(hz / envelopeGrid.lowestHz) / Math.log(envelopeGrid.stepRatio)

const at = (values: ArrayLike<number>, point: number) => {
  const below = Math.floor(point)
  const [from, to] = [values[below] ?? 0, values[below + 1] ?? values[below] ?? 0]
  return from + (to - from) * (point - below)
}

const correlation = (envelope: ArrayLike<number>, factor: number) => {
  const shift = pointOf(envelopeGrid.lowestHz * factor)
  // Both envelopes must cover the entire compared range.
  const from = Math.max(pointOf(comparedHz.from), shift)
  const to = Math.min(pointOf(comparedHz.to), envelopeGrid.points - 1, envelopeGrid.points - 1 + shift)
  const points = Array.from({ length: Math.floor((to - from) * 2) }, (_, step) => from + step / 2)
  const ours = withoutTilt(points.map((point) => at(envelope, point)))
  const theirs = withoutTilt(points.map((point) => at(reference, point - shift)))
  const product = (left: ReadonlyArray<number>, right: ReadonlyArray<number>) =>
    left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)
  return product(ours, theirs) / Math.sqrt(product(ours, ours) * product(theirs, theirs) + 1e-9)
}

/** The residual over a straight line. */
const withoutTilt = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const spread = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0)
  const slope = values.reduce((sum, value, index) => sum + (index - middle) * value, 0) / spread
  return values.map((value, index) => value - mean - slope * (index - middle))
}
