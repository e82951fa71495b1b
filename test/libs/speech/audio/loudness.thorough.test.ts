import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { kWeighting, loudnessTarget, makeLoudnessLeveller } from "../../../../libs/speech/audio/loudness.ts"

const rateHz = 24_000

const sine = (seconds: number, hz: number, amplitude: number) =>
  Int16Array.from({ length: seconds * rateHz }, (_, at) => amplitude * Math.sin((2 * Math.PI * hz * at) / rateHz))

/** Syllables of a buzz, four a second, with a pause of half a second every two. */
const babble = (seconds: number, amplitude: number) =>
  Int16Array.from({ length: seconds * rateHz }, (_, at) => {
    const second = at / rateHz
    if (second % 2 > 1.5) return 0
    const swell = Math.abs(Math.sin(Math.PI * 4 * second))
    const buzz = [1, 2, 3, 4, 5].reduce((sum, part) => sum + Math.sin(2 * Math.PI * 130 * part * second) / part, 0)
    return (amplitude * swell * buzz) / 2
  })

/** Without gates: valid for a signal without silence. */
const ungatedLufs = (pcm: Int16Array) => {
  const weight = kWeighting(rateHz)
  const power = pcm.reduce((sum, sample) => sum + weight(sample / 32_768) ** 2, 0) / pcm.length
  return 10 * Math.log10(power) - 0.691
}

const withoutPauses = (pcm: Int16Array) => pcm.filter((_, at) => (at / rateHz) % 2 <= 1.5)

const levelled = (pcm: Int16Array, piece = pcm.length) => {
  const leveller = makeLoudnessLeveller()
  const all = new Int16Array(pcm.length)
  for (let at = 0; at < pcm.length; at += piece) all.set(leveller.push(pcm.subarray(at, at + piece)), at)
  return all
}

describe("K-weighting", () => {
  it("measures a full-scale tone of 997 Hz at -3.01 LUFS, as the standard demands", () => {
    assert.closeTo(ungatedLufs(sine(5, 997, 32_767)), -3.01, 0.05)
  })
  it("gives low frequencies little weight", () => assert.isBelow(ungatedLufs(sine(5, 20, 32_767)), -13))
})

describe("levelled loudness", () => {
  it.each([7_000, 10_000, 20_000])("reaches the target from an amplitude of %i", (amplitude) => {
    const lufs = ungatedLufs(withoutPauses(levelled(babble(12, amplitude))))
    assert.closeTo(lufs, loudnessTarget.lufs, 1)
  })

  it.prop(
    "depends on position alone, for any cut of the samples",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9_000 }))],
    ([piece]) => {
      const speech = babble(1, 5_000)
      assert.deepStrictEqual(levelled(speech, piece), levelled(speech))
    },
    { arbitrary: { runs: 5 } }
  )

  it("answers every sample at once", () => {
    const leveller = makeLoudnessLeveller()
    for (const length of [0, 1, 7, 2_400]) assert.strictEqual(leveller.push(new Int16Array(length)).length, length)
  })

  it("leaves silence silent, and begins a text after initial silence as any other", () => {
    const silence = new Int16Array(3 * rateHz)
    assert.isTrue(levelled(silence).every((sample) => sample === 0))
    const speech = babble(1, 5_000)
    const after = levelled(Int16Array.from([...silence, ...speech])).subarray(silence.length)
    assert.deepStrictEqual([...after.subarray(0, 2_400)], [...levelled(speech).subarray(0, 2_400)])
  })

  it("never clips a peak", () => {
    const loud = levelled(sine(3, 300, 32_767))
    const peak = loud.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
    assert.isAtMost(20 * Math.log10(peak / 32_768), loudnessTarget.peakDbfs)
  })
})
