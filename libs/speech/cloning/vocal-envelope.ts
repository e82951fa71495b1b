/**
 * The average shape of a throat: of each voiced stretch the spectral envelope, by linear prediction, and the mean
 * of all of them in decibels, on a scale on which a factor of frequency is a step to the side. Pure.
 */
import { atRate, frameLevels, hopSeconds, quantile } from "./frames.ts"
import { isVoiced } from "./pitch-track.ts"

/** Holds the four formants of nearly everybody. */
const envelopeHz = 10_000
/** Two poles a formant, four formants, and some for what is no formant. */
const order = 12
const windowSeconds = 0.03
const emphasis = 0.97
const belowLoudDb = 15
/** More than so many stretches, evenly taken, change nothing. */
const framesMax = 800

/** Where the envelope is told: from `lowestHz` up, each point by `stepRatio` higher. */
export const envelopeGrid = { lowestHz: 200, stepRatio: 1.04, points: 81 }

/** Decibels at each point of the grid; nothing of a recording without a voice. */
export const vocalEnvelope = (pcm: Int16Array, hz: number, track: Float64Array): Float64Array | undefined => {
  const samples = atRate(pcm, hz, envelopeHz)
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

/** Levinson and Durbin: the coefficients, and what they leave unexplained. */
const predictor = (window: Float64Array) => {
  const correlation = Float64Array.from({ length: order + 1 }, (_, lag) => {
    let sum = 0
    for (let at = lag; at < window.length; at++) sum += (window[at] ?? 0) * (window[at - lag] ?? 0)
    return sum
  })
  // A little noise, so that silence has an answer too.
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

/** Cosine and sine of every coefficient's place at every point of the grid. */
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
