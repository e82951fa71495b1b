import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { concatPcm, makeResampler } from "#speech/audio"

const rates = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000]

const resampled = (toHz: number, pieces: ReadonlyArray<Int16Array>) => {
  const resampler = makeResampler(24_000, toHz)
  return concatPcm([...pieces.map(resampler.push), resampler.flush()])
}

const sine = (hz: number, rateHz: number, samples: number) =>
  Int16Array.from({ length: samples }, (_, at) => Math.round(10_000 * Math.sin((2 * Math.PI * hz * at) / rateHz)))

const cut = (pcm: Int16Array, sizes: ReadonlyArray<number>) => {
  const pieces: Array<Int16Array> = []
  let at = 0
  for (const size of sizes) {
    pieces.push(pcm.subarray(at, at + size))
    at += size
  }
  return [...pieces, pcm.subarray(at)]
}

const furthestApart = (left: Int16Array, right: Int16Array) =>
  left.reduce((most, sample, at) => Math.max(most, Math.abs(sample - (right[at] ?? 0))), 0)

const Sizes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 300 })))
const Length = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_500 }))

describe("a change of the rate", () => {
  it.prop("does not depend on the cut of the input, and has the exact length", [Length, Sizes], ([length, sizes]) => {
    const pcm = sine(440, 24_000, length)
    for (const rateHz of rates) {
      const whole = resampled(rateHz, [pcm])
      assert.strictEqual(whole.length, Math.round((length * rateHz) / 24_000))
      assert.deepStrictEqual(resampled(rateHz, cut(pcm, sizes)), whole)
    }
  })

  it.each(rates)("to %i keeps a tone's position and level", (rateHz) => {
    const out = resampled(rateHz, [sine(1_000, 24_000, 24_000)])
    const expected = sine(1_000, rateHz, rateHz)
    // The ends apart, where the tone begins and stops at once.
    assert.strictEqual(out.length, expected.length)
    assert.isAtMost(furthestApart(out.subarray(200, -200), expected.subarray(200, -200)), 4)
  })

  it("removes frequencies that the lower rate cannot hold", () => {
    const out = resampled(8_000, [sine(6_000, 24_000, 24_000)]).subarray(200, 7_800)
    assert.isBelow(
      out.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0),
      10
    )
  })

  it.each(rates)("to %i leaves silence silent and a constant constant", (rateHz) => {
    const out = resampled(rateHz, [new Int16Array(4_800).fill(5_000)])
    const inside = out.subarray(100, -100)
    assert.isNotEmpty(inside)
    assert.isAtMost(furthestApart(inside, new Int16Array(inside.length).fill(5_000)), 1)
    assert.isTrue(resampled(rateHz, [new Int16Array(2_400)]).every((sample) => sample === 0))
  })

  it.each(rates.filter((rateHz) => rateHz !== 24_000))("to %i limits what overshoots, and wraps nothing", (rateHz) => {
    const square = Int16Array.from({ length: 24_000 }, (_, at) => (Math.floor(at / 120) % 2 === 0 ? 32_767 : -32_768))
    const out = resampled(rateHz, [square])
    const middles = out.filter((_, at) => {
      const within = ((at * 24_000) / rateHz) % 120
      return within > 50 && within < 70
    })
    assert.isAtLeast(Math.min(...Array.from(middles, Math.abs)), 31_000)
    assert.strictEqual(Math.max(...out), 32_767)
    assert.strictEqual(Math.min(...out), -32_768)
  })

  it.each(rates.filter((rateHz) => rateHz !== 24_000))("of two sounds added up, to %i, is that of both", (rateHz) => {
    const [one, other] = [sine(700, 24_000, 9_000), sine(3_100, 24_000, 9_000)]
    const both = resampled(rateHz, [one.map((sample, at) => sample + (other[at] ?? 0))])
    const [left, right] = [resampled(rateHz, [one]), resampled(rateHz, [other])]
    // Each of the three is rounded.
    const sum = left.map((sample, at) => sample + (right[at] ?? 0))
    assert.isAtMost(furthestApart(both, sum), 2)
  })
})
