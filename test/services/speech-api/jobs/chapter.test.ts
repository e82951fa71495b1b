import { assert, describe, it } from "@effect/vitest"
import { joinedPassages, marksOf, sectionsOf } from "../../../../services/speech-api/jobs/chapter.ts"

const document = "# One\n\nIt **was** late.\n\n## Two\n\nGood night."
const turn = (text: string, source: ReadonlyArray<readonly [number, number, number]>) => ({
  text,
  pauseAfterMs: 300,
  source
})
const planned = {
  title: "One",
  document: 0,
  passages: [
    {
      turns: [
        turn("One", [[0, 2, 3]]),
        turn("It was late.", [
          [0, 7, 3],
          [3, 12, 3],
          [6, 17, 6]
        ])
      ]
    },
    { turns: [turn("Two", [[0, 28, 3]]), turn("Good night.", [[0, 33, 11]])] }
  ],
  sections: [{ title: "Two", passage: 1, turn: 0 }]
}
const word = (of: number, value: string, start: number, ms: number) => ({
  type: "word" as const,
  turn: of,
  start,
  end: start + value.length,
  start_time: ms,
  end_time: ms + 100,
  value
})
const spoken = [
  {
    samples: 48_012,
    sentences: [
      { turn: 0, start: 0, end: 3 },
      { turn: 1, start: 0, end: 12 }
    ],
    words: [word(0, "One", 0, 10), word(1, "was", 3, 900)]
  },
  {
    samples: 24_000,
    sentences: [{ turn: 0, start: 0, end: 3 }],
    words: [word(0, "Two", 0, 20), word(1, "Good", 0, 500)]
  }
]
const joined = joinedPassages(planned, spoken)

describe("a chapter of several passages", () => {
  it("has one timeline, to the sample, and counts turns over all passages", () => {
    assert.strictEqual(joined.durationMs, 3_000.5)
    assert.deepStrictEqual(
      joined.words.map(({ start_time, turn: of, value }) => [value, of, start_time]),
      [
        ["One", 0, 10],
        ["was", 1, 900],
        ["Two", 2, 2_020.5],
        ["Good", 3, 2_500.5]
      ]
    )
    assert.deepStrictEqual(joined.sentences.at(-1), { turn: 2, start: 0, end: 3 })
  })

  it("marks words where they stand in the document", () => {
    for (const { end, start, value } of marksOf(joined, document).speech_marks) {
      assert.strictEqual(document.slice(start, end), value)
    }
    assert.deepStrictEqual(
      marksOf(joined, document).speech_marks.map(({ value }) => value),
      ["One", "was", "Two", "Good"]
    )
  })

  it("has its sections where their headings are heard", () => {
    assert.deepStrictEqual(sectionsOf(planned, joined), [{ title: "Two", startMs: 2_020.5 }])
  })
})
