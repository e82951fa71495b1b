/**
 * The distance of two voices: each is a Gaussian with a full covariance matrix over its cepstra, and the distance is
 * the symmetric Kullback-Leibler divergence. It distinguishes vocal tracts, not persons. Pure.
 */

export const coefficients = 16

const bands = 30
const lowHz = 60
const highHz = 7_600
const transformLength = 512
const preEmphasis = 0.97
/** A frame quieter than the loud frames by more than this is not speech. */
const speechBelowLoudDb = 20
/** The added noise relative to the mean power of the speech: 20 dB below. */
const noiseShare = 0.01

/**
 * Mel-frequency cepstral coefficients: the shape of the vocal tract, some hundred times a second. 25 ms windows every
 * 10 ms, 30 mel bands from 60 Hz to 7.6 kHz, coefficients 1 to 16; the one for loudness is left out, so the distance to
 * the microphone matters little. Quiet frames are left out, because they describe the room, and a little white noise is
 * added to the others, so that a quiet room and a less quiet one sound alike. Pure. One vector of `coefficients` per
 * frame of speech.
 */
export const cepstraOf = (samples: Int16Array, rateHz: number): ReadonlyArray<Float64Array> => {
  const windowSamples = Math.round(rateHz * 0.025)
  const hopSamples = Math.round(rateHz * 0.01)
  const energies: Array<number> = []
  for (let from = 0; from + windowSamples <= samples.length; from += hopSamples) {
    energies.push(energyDb(samples, from, windowSamples))
  }
  const loud = energies.toSorted((one, other) => one - other)[Math.floor(energies.length * 0.95)] ?? 0
  const hamming = Float64Array.from(
    { length: windowSamples },
    (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (windowSamples - 1))
  )
  const spectrum = makeSpectrum(transformLength)
  const filters = melFilters(rateHz)
  const frame = new Float64Array(windowSamples)
  const powers = energies.flatMap((energy, index) => {
    if (energy < loud - speechBelowLoudDb || energy < 0) return []
    const from = index * hopSamples
    for (let at = 0; at < windowSamples; at++) {
      const before = from + at === 0 ? 0 : (samples[from + at - 1] ?? 0)
      frame[at] = ((samples[from + at] ?? 0) - preEmphasis * before) * (hamming[at] ?? 0)
    }
    return [bandPowers(spectrum.power(frame), filters)]
  })
  const noise = noiseUnder(powers, filters)
  return powers.map((bands) => cosines(bands.map((power, band) => Math.log(power + (noise[band] ?? 0) + 1))))
}

/** The energy of one step of a sample; a frame of zeros has -100. */
const energyDb = (samples: Int16Array, from: number, length: number) => {
  let sum = 0
  for (let at = from; at < from + length; at++) sum += (samples[at] ?? 0) ** 2
  return 10 * Math.log10(sum / length + 1e-10)
}

interface MelFilter {
  readonly firstBin: number
  readonly weights: ReadonlyArray<number>
}

const mel = (hz: number) => 2_595 * Math.log10(1 + hz / 700)
const hzOf = (mels: number) => 700 * (10 ** (mels / 2_595) - 1)

/** Triangles, each between its neighbours' tops. */
const melFilters = (rateHz: number): ReadonlyArray<MelFilter> => {
  const high = Math.min(highHz, rateHz / 2)
  const edge = (at: number) => hzOf(mel(lowHz) + ((mel(high) - mel(lowHz)) * at) / (bands + 1))
  const binHz = rateHz / transformLength
  return Array.from({ length: bands }, (_, band) => {
    const [left, top, right] = [edge(band), edge(band + 1), edge(band + 2)]
    const firstBin = Math.ceil(left / binHz)
    const count = Math.max(0, Math.floor(right / binHz) - firstBin + 1)
    const weights = Array.from({ length: count }, (_, at) => {
      const hz = (firstBin + at) * binHz
      return hz <= top ? (hz - left) / (top - left) : (right - hz) / (right - top)
    })
    return { firstBin, weights }
  })
}

const bandPowers = (power: Float64Array, filters: ReadonlyArray<MelFilter>): ReadonlyArray<number> =>
  filters.map(({ firstBin, weights }) => {
    let sum = 0
    for (const [at, weight] of weights.entries()) sum += weight * (power[firstBin + at] ?? 0)
    return sum
  })

/** White noise: each band has as much of it as it is wide. */
const noiseUnder = (powers: ReadonlyArray<ReadonlyArray<number>>, filters: ReadonlyArray<MelFilter>) => {
  const widths = filters.map(({ weights }) => total(weights))
  const speech = total(powers.map(total)) / Math.max(1, powers.length)
  return widths.map((width) => (speech * noiseShare * width) / total(widths))
}

const total = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)

const cosineTable = Array.from({ length: coefficients }, (_, row) =>
  Float64Array.from({ length: bands }, (_, band) => Math.cos((Math.PI * (row + 1) * (band + 0.5)) / bands))
)

const cosines = (logs: ReadonlyArray<number>): Float64Array =>
  Float64Array.from(cosineTable, (row) => {
    let sum = 0
    for (const [band, factor] of row.entries()) sum += factor * (logs[band] ?? 0)
    return sum * Math.sqrt(2 / bands)
  })

interface Spectrum {
  /** Power in bins 0 to length / 2. The next call overwrites the result. */
  readonly power: (frame: Float64Array) => Float64Array
}

/**
 * The power spectrum of real samples by a radix-2 transform, with tables made once. `length` is a power of two; a
 * shorter frame is padded with zeros.
 */
export const makeSpectrum = (length: number): Spectrum => {
  const bits = Math.log2(length)
  const cosines = Float64Array.from({ length: length / 2 }, (_, at) => Math.cos((2 * Math.PI * at) / length))
  const sines = Float64Array.from({ length: length / 2 }, (_, at) => -Math.sin((2 * Math.PI * at) / length))
  const places = Uint32Array.from({ length }, (_, at) => reversed(at, bits))
  const real = new Float64Array(length)
  const imaginary = new Float64Array(length)
  const power = new Float64Array(length / 2 + 1)

  const combine = (size: number) => {
    const half = size / 2
    const step = length / size
    for (let from = 0; from < length; from += size) {
      for (let at = 0; at < half; at++) {
        const [low, high] = [from + at, from + at + half]
        const [cosine, sine] = [cosines[at * step] ?? 0, sines[at * step] ?? 0]
        const [highReal, highImaginary] = [real[high] ?? 0, imaginary[high] ?? 0]
        const turnedReal = highReal * cosine - highImaginary * sine
        const turnedImaginary = highReal * sine + highImaginary * cosine
        real[high] = (real[low] ?? 0) - turnedReal
        imaginary[high] = (imaginary[low] ?? 0) - turnedImaginary
        real[low] = (real[low] ?? 0) + turnedReal
        imaginary[low] = (imaginary[low] ?? 0) + turnedImaginary
      }
    }
  }

  return {
    power: (frame) => {
      imaginary.fill(0)
      for (const [at, place] of places.entries()) real[at] = frame[place] ?? 0
      for (let size = 2; size <= length; size *= 2) combine(size)
      for (let bin = 0; bin < power.length; bin++) power[bin] = (real[bin] ?? 0) ** 2 + (imaginary[bin] ?? 0) ** 2
      return power
    }
  }
}

const reversed = (number: number, bits: number) => {
  let [left, result] = [number, 0]
  for (let bit = 0; bit < bits; bit++) {
    result = (result << 1) | (left & 1)
    left >>= 1
  }
  return result
}

interface Gaussian {
  readonly mean: Float64Array
  /** Row by row. */
  readonly covariance: ReadonlyArray<Float64Array>
}

/** Added to each variance, because a tone that never changes has none of its own. */
const ridge = 0.05

export const gaussianOf = (vectors: ReadonlyArray<Float64Array>): Gaussian => {
  const size = coefficients
  const count = Math.max(1, vectors.length)
  const mean = new Float64Array(size)
  for (const vector of vectors) for (const [at, value] of vector.entries()) mean[at] = (mean[at] ?? 0) + value / count
  const covariance = Array.from({ length: size }, () => new Float64Array(size))
  for (const vector of vectors) {
    for (const [row, line] of covariance.entries()) {
      const rowValue = (vector[row] ?? 0) - (mean[row] ?? 0)
      for (let column = 0; column < size; column++) {
        line[column] = (line[column] ?? 0) + (rowValue * ((vector[column] ?? 0) - (mean[column] ?? 0))) / count
      }
    }
  }
  for (const [row, line] of covariance.entries()) line[row] = (line[row] ?? 0) + ridge
  return { mean, covariance }
}

/** 0 for the same voice, symmetric, never negative. */
export const divergence = (one: Gaussian, other: Gaussian): number => {
  const [inverseOne, inverseOther] = [inverse(one.covariance), inverse(other.covariance)]
  let sum = -2 * coefficients
  for (let row = 0; row < coefficients; row++) {
    const rowGap = (one.mean[row] ?? 0) - (other.mean[row] ?? 0)
    for (let column = 0; column < coefficients; column++) {
      const [atOne, atOther] = [inverseOne[row]?.[column] ?? 0, inverseOther[row]?.[column] ?? 0]
      const columnGap = (one.mean[column] ?? 0) - (other.mean[column] ?? 0)
      sum += atOther * (one.covariance[row]?.[column] ?? 0) + atOne * (other.covariance[row]?.[column] ?? 0)
      sum += (atOne + atOther) * rowGap * columnGap
    }
  }
  return Math.max(0, sum / 2)
}

/** Gauss-Jordan elimination; the matrix is positive definite, so no pivot vanishes. */
const inverse = (matrix: ReadonlyArray<Float64Array>): ReadonlyArray<Float64Array> => {
  const size = matrix.length
  const rows = matrix.map((line, row) => {
    const wide = new Float64Array(2 * size)
    wide.set(line)
    wide[size + row] = 1
    return wide
  })
  for (const [pivot, line] of rows.entries()) {
    const scale = line[pivot] ?? 1
    for (let column = 0; column < 2 * size; column++) line[column] = (line[column] ?? 0) / scale
    for (const [row, other] of rows.entries()) {
      const factor = other[pivot] ?? 0
      if (row === pivot || factor === 0) continue
      for (let column = 0; column < 2 * size; column++) {
        other[column] = (other[column] ?? 0) - factor * (line[column] ?? 0)
      }
    }
  }
  return rows.map((row) => row.slice(size))
}

/** A second of speech. */
const framesMin = 100

/** Larger than any measured distance. */
export const distanceCeiling = 1_000

/** The distance between the speech of two recordings; the ceiling if one of them has less than a second of it. */
export const voiceDistance = (one: Int16Array, other: Int16Array, rateHz: number): number => {
  const [cepstraOne, cepstraOther] = [cepstraOf(one, rateHz), cepstraOf(other, rateHz)]
  if (cepstraOne.length < framesMin || cepstraOther.length < framesMin) return distanceCeiling
  return Math.min(distanceCeiling, divergence(gaussianOf(cepstraOne), gaussianOf(cepstraOther)))
}
