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

const strongest = (samples: Int16Array, hz: number) => {
  const windowed = Float64Array.from(
    samples,
    (sample, at) => sample * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / frame))
  )
  const spectrum = Float64Array.from({ length: 700 }, (_, bin) => magnitude(windowed, (bin * 5) / hz))
  const strength = (pitch: number) => {
    let sum = 0
    for (let harmonic = 1; harmonic <= harmonicsMax && harmonic * pitch < 3_400; harmonic++) {
      sum += fade ** (harmonic - 1) * Math.sqrt(spectrum[Math.round((harmonic * pitch) / 5)] ?? 0)
    }
    return sum
  }
  return grid.reduce((best, pitch) => (strength(pitch) > strength(best) ? pitch : best), grid[0] ?? 0)
}

const magnitude = (samples: Float64Array, turnsPerSample: number) => {
  const factor = 2 * Math.cos(2 * Math.PI * turnsPerSample)
  let [before, last] = [0, 0]
  // By index and without a pair for each sample: this runs some billion times.
  for (let at = 0; at < samples.length; at++) {
    const next = (samples[at] ?? 0) + factor * last - before
    before = last
    last = next
  }
  return Math.sqrt(Math.max(0, last * last + before * before - factor * last * before))
}
