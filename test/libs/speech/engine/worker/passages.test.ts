import { assert, describe, it } from "@effect/vitest"
import { passagesOf, wordAt } from "../../../../../libs/speech/engine/worker/passages.ts"
import { jobOf, piece, voiceOf } from "../jobs.ts"

const voice = { ...voiceOf("espeak", "any"), ratePercent: 80, gainDb: 2 }

describe("the passages of a job for a model", () => {
  it("are as few as there are runs of one style", () => {
    const job = jobOf(
      voice,
      piece("One "),
      piece("two, "),
      piece("three ", { ratePercent: 150 }),
      piece("four, ", { volumeDb: -6 }),
      piece("five.", { volumeDb: -6, pitchPercent: 120 })
    )
    assert.deepStrictEqual(
      passagesOf(job).map(({ text, speed, pitch, gainDb }) => [text, speed, pitch, gainDb]),
      [
        ["One two, ", 0.8, 1, 2],
        ["three ", 1.2, 1, 2],
        ["four, ", 0.8, 1, -4],
        ["five.", 0.8, 1.2, -4]
      ]
    )
  })
  it("do not change with the pitch for a model without one", () => {
    const job = jobOf(voice, piece("One "), piece("two.", { pitchPercent: 120, rangePercent: 50 }))
    assert.deepStrictEqual(
      passagesOf(job, false).map(({ text, pitch, range }) => [text, pitch, range]),
      [["One two.", 1, 1]]
    )
  })
  it.each([
    [900, 7.2],
    [50, 0.4],
    [10_000, 10]
  ])("at %d %% are at %d times the voice's pace", (ratePercent, speed) => {
    const passage = passagesOf(jobOf(voice, piece("Fast", { ratePercent })))[0]
    assert.deepInclude(passage, { speed })
  })
  it("leave out unspeakable text", () => {
    assert.strictEqual(
      passagesOf(jobOf(voice, piece("Fast"), piece(" ... ", { ratePercent: 90 }), piece("\u0001"))).length,
      1
    )
  })
  it("know for each of their words the piece and the place in it", () => {
    const [passage] = passagesOf(jobOf(voice, piece("One "), piece("two, "), piece("three.")))
    assert.isDefined(passage)
    assert.deepStrictEqual(
      [0, 4, 9].map((position) => wordAt(passage, position, 7)),
      [
        { piece: 0, position: 0, sample: 7 },
        { piece: 1, position: 0, sample: 7 },
        { piece: 2, position: 0, sample: 7 }
      ]
    )
  })
})
