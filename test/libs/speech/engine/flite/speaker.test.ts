import { assert, describe, it } from "@effect/vitest"
import { fliteFeatures } from "../../../../../libs/speech/engine/flite/speaker.ts"
import { plainStyle as plain, voiceOf } from "../jobs.ts"

const voice = voiceOf("flite", "slt")

describe("flite's features", () => {
  it("set the pitch in each voice's own way", () => {
    const higher = { ...plain, pitchPercent: 120 }

    assert.closeTo(fliteFeatures("kal16", voice, higher)["int_f0_target_mean"] ?? 0, 114, 0.001)
    assert.strictEqual(fliteFeatures("slt", voice, higher)["f0_shift"], 1.2)
  })
  it("leave the deviation of the pitch to the voice for a plain piece", () => {
    assert.deepStrictEqual(fliteFeatures("slt", voice, plain), { duration_stretch: 1, f0_shift: 1 })
  })
})
