/**
 * The discrete Fourier transform of complex numbers, for lengths that are products of small factors, such as 1,200.
 * Pure; a plan keeps its tables and its working memory.
 */

interface Complex {
  readonly real: Float64Array
  readonly imaginary: Float64Array
}

/** Transforms in place; the inverse is not divided by the length. */
export type Fft = (values: Complex, isInverse: boolean) => void

/** Stockham's algorithm: every stage joins `radix` times as many transforms as the one before, and keeps the order. */
export const makeFft = (length: number): Fft => {
  const radices = factorsOf(length)
  const cosines = Float64Array.from({ length }, (_, at) => Math.cos((2 * Math.PI * at) / length))
  const sines = Float64Array.from({ length }, (_, at) => -Math.sin((2 * Math.PI * at) / length))
  const room: Complex = { real: new Float64Array(length), imaginary: new Float64Array(length) }

  /** `joined`: the length of the transforms that `from` holds; their number is `length / joined`. */
  const join = (from: Complex, to: Complex, { radix, joined, sign }: Record<"radix" | "joined" | "sign", number>) => {
    const span = length / (joined * radix)
    const { real: fromReal, imaginary: fromImaginary } = from
    const { real: toReal, imaginary: toImaginary } = to
    for (let out = 0; out < joined * radix; out++) {
      const source = (out % joined) * span * radix
      const target = out * span
      // The first part is not rotated.
      for (let at = 0; at < span; at++) {
        toReal[target + at] = fromReal[source + at]!
        toImaginary[target + at] = fromImaginary[source + at]!
      }
      for (let part = 1; part < radix; part++) {
        const turn = (part * out * span) % length
        const cosine = cosines[turn]!
        const sine = sign * sines[turn]!
        const first = source + part * span
        for (let at = 0; at < span; at++) {
          const real = fromReal[first + at]!
          const imaginary = fromImaginary[first + at]!
          toReal[target + at]! += real * cosine - imaginary * sine
          toImaginary[target + at]! += real * sine + imaginary * cosine
        }
      }
    }
  }

  return (values, isInverse) => {
    let [from, to] = [values, room]
    let joined = 1
    for (const radix of radices) {
      join(from, to, { radix, joined, sign: isInverse ? -1 : 1 })
      joined *= radix
      ;[from, to] = [to, from]
    }
    if (from === values) return
    values.real.set(from.real)
    values.imaginary.set(from.imaginary)
  }
}

const factorsOf = (length: number) => {
  const factors: Array<number> = []
  let rest = length
  for (const factor of [4, 2, 3, 5]) {
    while (rest % factor === 0) {
      factors.push(factor)
      rest /= factor
    }
  }
  if (rest !== 1) throw new Error(`no transform of length ${length}`)
  return factors
}
