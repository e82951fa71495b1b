import { assert, describe, it } from "@effect/vitest"
import {
  cepstraOf,
  distanceCeiling,
  divergence,
  gaussianOf,
  makeSpectrum,
  voiceDistance
} from "../../../../../../libs/speech/cloning/consent/speaker/voice-distance.ts"

const hz = 16_000

/** A buzz through slightly wandering resonances: a voice without words. Another `seed` wanders elsewhere. */
const throat = (formantsHz: ReadonlyArray<number>, seed: number, seconds = 3): Int16Array => {
  let state = seed
  const chance = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const resonators = formantsHz.map((formantHz) => ({ formantHz, last: 0, before: 0, wanders: 1 }))
  return Int16Array.from({ length: seconds * hz }, (_, at) => {
    if (at % 1_600 === 0) for (const one of resonators) one.wanders = 0.9 + 0.2 * chance()
    let sound = (at % 130 === 0 ? 60_000 : 0) + 600 * (chance() - 0.5)
    for (const one of resonators) {
      const turn = 2 * 0.97 * Math.cos((2 * Math.PI * one.formantHz * one.wanders) / hz)
      const next = 0.15 * sound + turn * one.last - 0.97 ** 2 * one.before
      one.before = one.last
      one.last = next
      sound = next
    }
    return Math.max(-30_000, Math.min(30_000, sound))
  })
}

const large = [500, 1_500, 2_500]
const small = [800, 2_300, 3_600]

describe("a spectrum", () => {
  it("has the power of a tone in the tone's bin, and all the power of the samples", () => {
    const frame = Float64Array.from({ length: 512 }, (_, at) => 100 * Math.cos((2 * Math.PI * 37 * at) / 512))
    const power = makeSpectrum(512).power(frame)

    assert.approximately(power[37] ?? 0, (100 * 256) ** 2, 1)
    assert.isBelow(power[36] ?? 1, 1e-6)
    const inTime = frame.reduce((sum, value) => sum + value ** 2, 0)
    const inBins = power.reduce((sum, value, bin) => sum + value * (bin === 0 || bin === 256 ? 1 : 2), 0) / 512
    assert.approximately(inBins, inTime, 1e-6 * inTime)
  })

  it("forgets the frame before", () => {
    const spectrum = makeSpectrum(64)
    spectrum.power(Float64Array.from({ length: 64 }, (_, at) => at))
    assert.isTrue(spectrum.power(new Float64Array(10)).every((value) => value === 0))
  })
})

describe("the distance of two voices", () => {
  it("is zero between a recording and itself", () => {
    const one = throat(large, 1)
    assert.approximately(voiceDistance(one, one, hz), 0, 1e-6)
  })

  it("is small between two recordings of one throat and large between two throats", () => {
    const same = voiceDistance(throat(large, 1), throat(large, 99), hz)
    const different = voiceDistance(throat(large, 1), throat(small, 2), hz)
    assert.isBelow(same, 12)
    assert.isAbove(different, 12)
    assert.isAbove(different, 4 * same)
  })

  it("is the same in both directions", () => {
    const [one, other] = [throat(large, 1), throat(small, 2)]
    assert.approximately(voiceDistance(one, other, hz), voiceDistance(other, one, hz), 1e-9)
  })

  it("does not depend on the loudness of either", () => {
    const one = throat(large, 1)
    const quiet = one.map((sample) => sample / 8)
    assert.isBelow(voiceDistance(one, quiet, hz), 0.5)
  })

  it("does not depend on the pauses of either", () => {
    const one = throat(large, 1)
    const paused = new Int16Array(2 * one.length)
    paused.set(one, one.length / 2)
    assert.isBelow(voiceDistance(one, paused, hz), 1)
  })

  it.each([
    ["nothing", new Int16Array(0)],
    ["silence", new Int16Array(5 * hz)],
    ["half a second", throat(large, 1, 0.5)]
  ] as const)("is the maximum when one of them is %s", (_, recording) => {
    assert.strictEqual(voiceDistance(throat(large, 1), recording, hz), distanceCeiling)
  })

  it("is finite for a constant tone", () => {
    const tone = Int16Array.from({ length: 3 * hz }, (_, at) => 9_000 * Math.sin(at / 7))
    const found = divergence(gaussianOf(cepstraOf(tone, hz)), gaussianOf(cepstraOf(throat(large, 1), hz)))
    assert.isTrue(Number.isFinite(found))
  })
})
