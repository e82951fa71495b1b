import { assert, describe, it } from "@effect/vitest"
import type { EngineFrame } from "../../../../../libs/speech/engine/Engine.ts"
import { formantShift, makeFrameBatcher, withoutControls } from "../../../../../libs/speech/engine/worker/serve.ts"
import { voiceOf } from "../jobs.ts"

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

describe("the frames of a job", () => {
  const collect = () => {
    const frames: Array<EngineFrame> = []
    return { frames, batcher: makeFrameBatcher((frame) => void frames.push(frame)) }
  }

  it("leave at once, and then double in length up to a second", () => {
    const { frames, batcher } = collect()

    for (let at = 0; at < 120; at++) batcher.audio(new Int16Array(1200))
    batcher.end()

    const lengths = frames.map((frame) => frame.pcm.length / 1200)
    assert.deepStrictEqual(lengths, [1, 2, 4, 8, 16, 20, 20, 20, 20, 9])
  })
  it("carry a word in the frame in which it begins, even when it was reported earlier", () => {
    const { frames, batcher } = collect()

    for (const sample of [0, 1200, 3599, 99_999]) batcher.word({ piece: 0, position: sample, sample })
    for (let at = 0; at < 4; at++) batcher.audio(new Int16Array(1200))
    batcher.end()

    const words = frames.map((frame) => frame.words.map((word) => word.position))
    assert.deepStrictEqual(words, [[0], [1200, 3599], [99_999]])
    assert.strictEqual(frames[2]?.words[0]?.sample, 4800)
  })
})

describe("a text for an engine", () => {
  it("has spaces in place of control characters, and the same length", () => {
    assert.strictEqual(withoutControls("a\u0000b\u0001+20Pc\u0085d\ne"), "a b +20Pc d e")
  })
})
