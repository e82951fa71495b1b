/** The power spectrum of real samples by a radix-2 transform. Pure; tables are made once per length. */

export interface Spectrum {
  /** Power in bins 0 to length / 2. The answer is overwritten by the next call. */
  readonly power: (frame: Float64Array) => Float64Array
}

/** `length` is a power of two; a shorter frame is filled up with zeros. */
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
