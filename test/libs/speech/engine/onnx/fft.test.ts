import { assert, describe, it } from "@effect/vitest"
import { makeFft } from "../../../../../libs/speech/engine/onnx/fft.ts"

const noise = (length: number) => ({
  real: Float64Array.from({ length }, (_, at) => Math.sin(at * at + 1)),
  imaginary: Float64Array.from({ length }, (_, at) => Math.cos(3 * at * at))
})

describe("the Fourier transform", () => {
  it.each([2, 4, 12, 60, 400, 1_200])(
    "of %i values is the sum that defines it, and its inverse leads back",
    (length) => {
      const [before, values] = [noise(length), noise(length)]
      const transform = makeFft(length)

      transform(values, false)
      for (const bin of [0, 1, Math.floor(length / 3), length - 1]) {
        let [real, imaginary] = [0, 0]
        for (let at = 0; at < length; at++) {
          const angle = (-2 * Math.PI * bin * at) / length
          const [r, i] = [before.real[at] ?? 0, before.imaginary[at] ?? 0]
          real += r * Math.cos(angle) - i * Math.sin(angle)
          imaginary += r * Math.sin(angle) + i * Math.cos(angle)
        }
        assert.closeTo(values.real[bin] ?? 0, real, 1e-8)
        assert.closeTo(values.imaginary[bin] ?? 0, imaginary, 1e-8)
      }
      transform(values, true)
      for (const [at, value] of before.real.entries()) assert.closeTo((values.real[at] ?? 0) / length, value, 1e-9)
    }
  )
  it("refuses a length with a large factor", () => {
    assert.throws(() => makeFft(14), /no transform of length 14/u)
  })
})
