import { assert, describe, it } from "@effect/vitest"
import type { WordMark } from "#speech/contract"
import { playedMs, piecesOf, wordAt } from "../../../../page/screens/speech/marks.ts"

const mark = (
  value: string,
  start: number,
  [start_time, end_time]: readonly [number, number],
  turn?: number
): WordMark => ({
  type: "word",
  value,
  start,
  end: start + value.length,
  start_time,
  end_time,
  ...(turn === undefined ? {} : { turn })
})
const marks = [mark("Hello", 0, [50, 300]), mark("there", 6, [300, 620]), mark("How", 13, [900, 1_050])]

describe("the word that is heard", () => {
  it.each([
    ["before the first word", 0, -1],
    ["as the first word begins", 50, 0],
    ["within it", 299.9, 0],
    ["as the next one takes over", 300, 1],
    ["as a word has ended before a pause", 620, -1],
    ["in the pause", 899, -1],
    ["in the last word", 1_000, 2],
    ["after the last word", 1_050, -1]
  ])("%s", (_, atMs, word) => {
    assert.strictEqual(wordAt(marks, atMs), word)
  })

  it("is none where no word is marked yet", () => {
    assert.strictEqual(wordAt([], 100), -1)
  })
})

describe("a text in pieces", () => {
  it("has each marked word, and what stands between the words", () => {
    assert.deepStrictEqual(piecesOf("Hello there. How", marks), [
      { text: "Hello", word: 0 },
      { text: " " },
      { text: "there", word: 1 },
      { text: ". " },
      { text: "How", word: 2 }
    ])
  })

  it("keeps the rest of the text that is not marked yet", () => {
    assert.deepStrictEqual(piecesOf("Hello there", marks.slice(0, 1)), [{ text: "Hello", word: 0 }, { text: " there" }])
  })

  it("takes the marks of its own turn alone", () => {
    const turns = [mark("Yes", 0, [0, 200], 0), mark("No", 0, [200, 400], 1)]
    assert.deepStrictEqual(piecesOf("No.", turns, 1), [{ text: "No", word: 1 }, { text: "." }])
  })
})

describe("where in the sound the ear is", () => {
  const stretches = [
    { atSeconds: 1, fromSample: 0, samples: 24_000 },
    { atSeconds: 3, fromSample: 24_000, samples: 12_000 }
  ]
  it.each([
    ["nowhere before the sound begins", 0.9, undefined],
    ["at its first sample", 1, 0],
    ["half a second into it", 1.5, 500],
    ["at the end of what has come, in a gap", 2.5, 1_000],
    ["behind the gap once it goes on", 3.25, 1_250],
    ["at its end, however late it is", 9, 1_500]
  ])("%s", (_, clockSeconds, ms) => {
    assert.strictEqual(playedMs(stretches, clockSeconds, 24_000), ms)
  })
})
