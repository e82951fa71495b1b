import { assert, describe, it } from "@effect/vitest"
import { passagesOf } from "../../../../../libs/speech/engine/zero-shot/speaker.ts"
import { jobOf, piece, voiceOf } from "../jobs.ts"

describe("the passages of a job for a zero-shot model", () => {
  const voice = { ...voiceOf("espeak", "any"), ratePercent: 80, gainDb: 2 }
  it("are as few as there are runs of one style", () => {
    const job = jobOf(
      voice,
      piece("One "),
      piece("two, "),
      piece("three ", { ratePercent: 150 }),
      piece("four.", { volumeDb: -6 })
    )
    assert.deepStrictEqual(passagesOf(job), [
      { text: "One two, ", speed: 0.8, gainDb: 2 },
      { text: "three ", speed: 1.2, gainDb: 2 },
      { text: "four.", speed: 0.8, gainDb: -4 }
    ])
  })
  it("keep a pace that the model can hold, and leave out unspeakable text", () => {
    const job = jobOf(voice, piece("Fast", { ratePercent: 900 }), piece(" ... "), piece("\u0001"))
    assert.deepStrictEqual(
      passagesOf(job).map(({ speed }) => speed),
      [2]
    )
  })
})
