/** Synthetic voices with a known pitch, and a pitch measurement that shares nothing with ours. */
export const signalHz = 16_000

export interface Tone {
  readonly seconds: number
  readonly pitchAt: (second: number) => number
  /** Of each harmonic, the first one being the pitch itself. */
  readonly harmonics: ReadonlyArray<number>
  /** Against the tone's power. */
  readonly noiseDb?: number
  readonly loudnessAt?: (second: number) => number
}

/** A repeatable noise: a linear congruence, uniform. */
const makeNoise = () => {
  let state = 1
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 1_073_741_824 - 1
  }
}

export const tone = ({ seconds, pitchAt, harmonics, noiseDb, loudnessAt = () => 1 }: Tone): Int16Array => {
  const noise = makeNoise()
  const power = harmonics.reduce((sum, amplitude) => sum + amplitude ** 2 / 2, 0)
  const noiseSize = noiseDb === undefined ? 0 : Math.sqrt(3 * power * 10 ** (noiseDb / 10))
  const scale = 8_000 / Math.sqrt(2 * power)
  let phase = 0
  return Int16Array.from({ length: Math.round(seconds * signalHz) }, (_, at) => {
    const second = at / signalHz
    phase += (2 * Math.PI * pitchAt(second)) / signalHz
    const sound = harmonics.reduce((sum, amplitude, index) => sum + amplitude * Math.sin((index + 1) * phase), 0)
    return Math.round(scale * loudnessAt(second) * (sound + noiseSize * noise()))
  })
}

export const whiteNoise = (seconds: number): Int16Array => {
  const noise = makeNoise()
  return Int16Array.from({ length: seconds * signalHz }, () => Math.round(6_000 * noise()))
}

const frame = 1_024
const framesMax = 60
const [harmonicsMax, fade] = [10, 0.82]
const grid = Array.from({ length: 240 }, (_, step) => 50 * 1.01 ** step)

/** From the spectrum: the median of the pitches whose harmonics together are the strongest. */
export const spectralPitch = (pcm: Int16Array, hz: number): number => {
  const hop = Math.max(frame, Math.ceil((pcm.length - frame) / framesMax))
  const frames = Array.from({ length: Math.floor((pcm.length - frame) / hop) }, (_, at) =>
    pcm.subarray(at * hop, at * hop + frame)
  )
  const powers = frames.map((samples) => samples.reduce((sum, sample) => sum + sample ** 2, 0))
  const loud = 0.1 * Math.max(...powers)
  const found = frames.filter((_, at) => (powers[at] ?? 0) > loud).map((samples) => strongest(samples, hz))
  return found.toSorted((left, right) => left - right)[Math.floor(found.length / 2)] ?? Number.NaN
}

const bell = Float64Array.from({ length: frame }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / frame))
const [binHz, bins] = [5, 700]
const weights = Array.from({ length: harmonicsMax }, (_, at) => fade ** at)

const strongest = (samples: Int16Array, hz: number) => {
  const windowed = Float64Array.from(samples, (sample, at) => sample * (bell[at] ?? 0))
  const roots = spectrum(windowed, hz).map(Math.sqrt)
  const strength = (pitch: number) => {
    let sum = 0
    for (let harmonic = 1; harmonic <= harmonicsMax && harmonic * pitch < 3_400; harmonic++) {
      sum += (weights[harmonic - 1] ?? 0) * (roots[Math.round((harmonic * pitch) / binHz)] ?? 0)
    }
    return sum
  }
  let [best, most] = [grid[0] ?? 0, strength(grid[0] ?? 0)]
  for (const pitch of grid) {
    const one = strength(pitch)
    if (one > most) [best, most] = [pitch, one]
  }
  return best
}

const spectrum = (samples: Float64Array, hz: number) => {
  const magnitudes = new Float64Array(bins)
  for (let bin = 0; bin < bins; bin += 4) {
    const factor = (of: number) => 2 * Math.cos(2 * Math.PI * (((bin + of) * binHz) / hz))
    magnitudes.set(fourMagnitudes(samples, [factor(0), factor(1), factor(2), factor(3)]), bin)
  }
  return magnitudes
}

/**
 * Goertzel's algorithm for four frequencies at once: each of its steps waits for the step before, and the processor
 * does those of the other frequencies meanwhile. By index and without pairs: this runs some billion times.
 */
const fourMagnitudes = (
  samples: Float64Array,
  [factor0, factor1, factor2, factor3]: readonly [number, number, number, number]
) => {
  let before0 = 0
  let before1 = 0
  let before2 = 0
  let before3 = 0
  let last0 = 0
  let last1 = 0
  let last2 = 0
  let last3 = 0
  for (let at = 0; at < samples.length; at++) {
    const sample = samples[at] ?? 0
    const next0 = sample + factor0 * last0 - before0
    const next1 = sample + factor1 * last1 - before1
    const next2 = sample + factor2 * last2 - before2
    const next3 = sample + factor3 * last3 - before3
    before0 = last0
    before1 = last1
    before2 = last2
    before3 = last3
    last0 = next0
    last1 = next1
    last2 = next2
    last3 = next3
  }
  return [
    magnitude(factor0, last0, before0),
    magnitude(factor1, last1, before1),
    magnitude(factor2, last2, before2),
    magnitude(factor3, last3, before3)
  ]
}

const magnitude = (factor: number, last: number, before: number) =>
  Math.sqrt(Math.max(0, last * last + before * before - factor * last * before))
