import { assert, describe, it } from "@effect/vitest"
import { judgeRecording, type RecordingLimits } from "#speech/audio"
import { measureLevels } from "../../../../../libs/speech/audio/recordings.ts"

const hz = 16_000
const tone = (seconds: number, size: number) =>
  Int16Array.from({ length: seconds * hz }, (_, at) => Math.max(-32_768, Math.min(32_767, size * Math.sin(at / 5))))
const after = (...parts: ReadonlyArray<Int16Array>) => Int16Array.from(parts.flatMap((part) => [...part]))

describe("the levels of a recording", () => {
  it.each([
    [0, "no pause", after(tone(4, 8_000))],
    [0.5, "as much pause as tone", after(tone(2, 8_000), new Int16Array(2 * hz))],
    [0.5, "a pause with the noise of a room", after(tone(2, 8_000), tone(2, 40))],
    [1, "nothing", new Int16Array(2 * hz)],
    [1, "a whisper of noise and nothing else", tone(2, 20)],
    [1, "no samples at all", new Int16Array(0)]
  ] as const)("include %d of silence in %s", (share, _, samples) => {
    assert.approximately(measureLevels(samples, hz).silenceRatio, share, 0.02)
  })

  it("include no clipping in a tone that just reaches full scale, and much in one four times too loud", () => {
    assert.isBelow(measureLevels(tone(1, 32_000), hz).clippingRatio, 0.001)
    assert.isAbove(measureLevels(tone(1, 131_000), hz).clippingRatio, 0.7)
  })
})

describe("the check of a recording's usability", () => {
  const limits: RecordingLimits = {
    name: "sample",
    secondsMin: 10,
    secondsMax: 30,
    silenceRatioMax: 0.7,
    clippingRatioMax: 0.01
  }
  const good = { silenceRatio: 0.2, clippingRatio: 0 }

  it.each([
    [10, {}, undefined],
    [30, {}, undefined],
    [9.99, {}, "too_short"],
    [30.01, {}, "too_long"],
    [20, { silenceRatio: 0.7 }, undefined],
    [20, { silenceRatio: 0.71 }, "silent"],
    [20, { clippingRatio: 0.01 }, undefined],
    [20, { clippingRatio: 0.011 }, "clipped"],
    [5, { silenceRatio: 1 }, "too_short"]
  ] as const)("at %d seconds, %o is %s", (seconds, levels, reason) => {
    const fault = judgeRecording({ seconds, levels: { ...good, ...levels } }, limits)
    assert.strictEqual(fault?.reason, reason)
  })

  it("names the recording and the requirement", () => {
    const fault = judgeRecording({ seconds: 4, levels: good }, limits)
    assert.strictEqual(
      fault?.message,
      "sample cannot be used: it is 4.0 seconds long; between 10 and 30 seconds are needed"
    )
  })
})
