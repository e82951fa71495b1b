import { assert, describe, it } from "@effect/vitest"
import { pausesOf } from "../../../load-tests/speech/pauses.ts"

const hz = 24_000
const sound = (milliseconds: number, size: number) => Array.from({ length: (milliseconds * hz) / 1_000 }, () => size)

describe("pauses", () => {
  it("are the silence between two words with a punctuation mark between them", () => {
    const text = "One, two three. Four"
    const pcm = Int16Array.from([
      ...sound(200, 5_000),
      ...sound(160, 0),
      // Two, three: silent for a stop, which is no pause.
      ...sound(100, 5_000),
      ...sound(40, 0),
      ...sound(160, 5_000),
      ...sound(320, 20),
      ...sound(200, 5_000)
    ])
    const marks = [
      { start: 0, end: 3, value: "One", start_time: 0, end_time: 200 },
      { start: 5, end: 8, value: "two", start_time: 360, end_time: 480 },
      { start: 9, end: 14, value: "three", start_time: 480, end_time: 700 },
      { start: 16, end: 20, value: "Four", start_time: 980, end_time: 1_180 }
    ]
    const found = pausesOf(text, pcm, marks).map(({ kind, heardMs, markedMs }) => [kind, Math.round(heardMs), markedMs])
    assert.deepStrictEqual(found, [
      ["comma", 160, 160],
      ["full stop", 320, 280]
    ])
  })
})
