/**
 * How much higher or lower a throat's formants lie than those of espeak's own voice: by how far the one's average
 * envelope must be moved to lie best upon the other's. What a microphone or a way of speaking tilts is taken out
 * first, and no formant needs to be told from its neighbour. The reference speaks English, but its average over
 * sentences of German, Spanish, French, Italian and Portuguese comes out within 1 %. Pure.
 */
import { envelopeGrid } from "./vocal-envelope.ts"

/** espeak-ng 1.51, en-us: the envelope at each point of the grid, in decibels. */
const reference = [
  0.3, 0.6, 0.9, 1.2, 1.6, 2, 2.5, 3, 3.6, 4.1, 4.6, 4.9, 5.2, 5.5, 5.9, 6.4, 7, 7.5, 7.9, 7.6, 7.2, 7, 6.8, 6.5, 5.9,
  5.4, 4.9, 4.3, 3.7, 3, 2.3, 1.4, 0.5, -0.4, -1.2, -1.9, -2.5, -3, -3.4, -3.7, -3.9, -3.9, -4, -3.8, -3.7, -3.8, -3.8,
  -3.9, -3.5, -3.6, -3.1, -3.8, -4.4, -4.4, -4.1, -3.9, -3, -3.3, -3.4, -3.6, -3.3, -2.2, -0.8, 0.9, 3.1, 5.8, 3.2, 1.2,
  0.4, 0.1, 0.7, 2.8, 5.2, 4.8, 2, 0.7, -2.7, -10.2, -16.7, -21, -23.9
]

const scalePercent = { min: 75, max: 135, step: 0.5 }
/** Of two that fit about equally, the more usual throat: one formant may lie well upon another's neighbour. */
const rarity = 2
/** Below lies the voice itself, above what telephones leave out. */
const comparedHz = { from: 300, to: 3_900 }

/** Percent of the reference's formants. */
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
  // Both must know all of what is compared.
  const from = Math.max(pointOf(comparedHz.from), shift)
  const to = Math.min(pointOf(comparedHz.to), envelopeGrid.points - 1, envelopeGrid.points - 1 + shift)
  const points = Array.from({ length: Math.floor((to - from) * 2) }, (_, step) => from + step / 2)
  const ours = withoutTilt(points.map((point) => at(envelope, point)))
  const theirs = withoutTilt(points.map((point) => at(reference, point - shift)))
  const product = (left: ReadonlyArray<number>, right: ReadonlyArray<number>) =>
    left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)
  return product(ours, theirs) / Math.sqrt(product(ours, ours) * product(theirs, theirs) + 1e-9)
}

/** What is left over a straight line. */
const withoutTilt = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const spread = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0)
  const slope = values.reduce((sum, value, index) => sum + (index - middle) * value, 0) / spread
  return values.map((value, index) => value - mean - slope * (index - middle))
}
