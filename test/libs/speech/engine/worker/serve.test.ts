import { assert, describe, it } from "@effect/vitest"
import { amplify, formantShift } from "../../../../../libs/speech/engine/worker/serve.ts"
import { voiceOf } from "../jobs.ts"

describe("an amplified sound", () => {
  it("is exact below full scale, and bent where it would clip", () => {
    const pcm = Int16Array.from([1000, -1000, 20_000, -20_000, 32_767])

    amplify(pcm, 6)

    assert.deepStrictEqual([...pcm.subarray(0, 2)], [1995, -1995])
    assert.isTrue(pcm.every((sample) => Math.abs(sample) <= 32_767))
    assert.isAbove(pcm[4] ?? 0, pcm[2] ?? 0)
  })
})

describe("a shift of the formants", () => {
  const voice = { ...voiceOf("espeak", "en-us"), pitchPercent: 96, ratePercent: 88 }
  it("leaves a voice of 100 % unchanged", () => {
    const shared = { ...voice, formantPercent: 100 }
    assert.deepStrictEqual(formantShift(22_050, shared), { hz: 22_050, voice: shared })
    assert.deepStrictEqual(formantShift(16_000, shared), { hz: 16_000, voice: shared })
  })
  it("is within half a percent of the request, with exact pitch and pace and a small table", () => {
    for (let formantPercent = 80; formantPercent <= 125; formantPercent += 0.7) {
      const { hz, voice: shifted } = formantShift(22_050, { ...voice, formantPercent })
      assert.closeTo(hz / 22_050 / (formantPercent / 100), 1, 0.005)
      assert.closeTo((shifted.pitchPercent * hz) / 22_050, voice.pitchPercent, 1e-9)
      assert.closeTo((shifted.ratePercent * hz) / 22_050, voice.ratePercent, 1e-9)
      // 24,000 and this have so much in common that the resampler needs at most 160 phases.
      assert.strictEqual(hz % 150, 0)
    }
  })
  it("stays between 0.7 and 1.4", () => {
    assert.isAtMost(formantShift(22_050, { ...voice, formantPercent: 900 }).hz, 22_050 * 1.41)
    assert.isAtLeast(formantShift(22_050, { ...voice, formantPercent: 1 }).hz, 22_050 * 0.69)
  })
})
