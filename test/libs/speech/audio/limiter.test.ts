import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { concatPcm } from "#speech/audio"
import { makeLimiter } from "../../../../libs/speech/audio/limiter.ts"

const hz = 24_000

const louder = (pcm: Int16Array, decibels: number, step = pcm.length) => {
  const limiter = makeLimiter(hz)
  const parts: Array<Int16Array> = []
  for (let at = 0; at < pcm.length; at += Math.max(1, step)) {
    parts.push(limiter.push(pcm.subarray(at, at + Math.max(1, step)), decibels))
  }
  return concatPcm([...parts, limiter.flush()])
}

const hertz = 300
const tone = (amplitude: number, seconds: number) =>
  Int16Array.from({ length: seconds * hz }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * at) / hz))
  )

/** How loud a frequency is, in decibels under full scale. */
const levelAt = (pcm: Int16Array, frequency: number) => {
  let [real, imaginary] = [0, 0]
  for (const [at, sample] of pcm.entries()) {
    real += sample * Math.cos((2 * Math.PI * frequency * at) / hz)
    imaginary += sample * Math.sin((2 * Math.PI * frequency * at) / hz)
  }
  return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / pcm.length / 32_767 + 1e-9)
}

describe("a limited sound", () => {
  it.each([
    [0, [1_000, -32_767, 32_767, -32_768]],
    [6, [1_000, -1_000, 16_400]],
    [-20, [30_000, 5]]
  ])("that fits with %d dB is exact", (decibels, samples) => {
    const factor = 10 ** (decibels / 20)
    const expected = samples.map((sample) => Math.round(sample * factor))
    assert.deepStrictEqual([...louder(Int16Array.from(samples), decibels)], expected)
  })
  it("that would clip keeps its shape: no harmonic is heard", () => {
    const pcm = louder(tone(20_000, 1), 12).subarray(hz / 2)

    assert.isAbove(levelAt(pcm, hertz), -1)
    for (const harmonic of [3, 5, 7]) assert.isBelow(levelAt(pcm, hertz * harmonic), -45)
  })
  it("is as loud as asked again soon after a peak", () => {
    const pcm = louder(concatPcm([tone(30_000, 0.1), tone(3_000, 0.5)]), 6)

    const end = pcm.subarray(0.5 * hz)
    assert.closeTo(Math.max(...end), 3_000 * 10 ** (6 / 20), 30)
  })

  const Samples = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: -32_768, maximum: 32_767 })))
  const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))
  it.prop(
    "is as long as it was, within a step of the same however it comes, and turns no sample over",
    [Samples, upTo(24), upTo(60)],
    ([few, decibels, step]) => {
      const pcm = Int16Array.from(Array.from({ length: 4 }, () => few).flat())
      const made = louder(pcm, decibels)
      const inParts = louder(pcm, decibels, step)
      assert.strictEqual(made.length, pcm.length)
      for (const [at, sample] of made.entries()) {
        assert.isAtMost(Math.abs(sample - (inParts[at] ?? 0)), 8)
        assert.isAtLeast(sample * (pcm[at] ?? 0), 0)
      }
    }
  )
})
