/** Random texts, cut anyhow: the clauses are the same. */
import { assert, describe, it } from "@effect/vitest"
import { type Clause, clauseSplitter } from "#speech"

/** The clauses of a text that comes in these pieces, and then ends. */
const clausesOf = (pieces: ReadonlyArray<string>): ReadonlyArray<Clause> => {
  const splitter = clauseSplitter()
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.flush()]
}
const textsOf = (clauses: ReadonlyArray<Clause>) => clauses.map(({ text }) => text)

/** Numbers that look random and are the same in each run. */
const random = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const scraps = [
  ..."abcxyzABI 0123456789    ....,,;:!?\n\n\"'()“”’。，！…—",
  "Dr. ",
  "no. ",
  "e.g. ",
  "Mr. ",
  " I ",
  "J. ",
  "3. ",
  "12.",
  "🙂",
  "é",
  "e\u0301",
  "你好",
  "\ud83d",
  "the ",
  "However ",
  "word "
]

const randomText = (next: (below: number) => number) =>
  Array.from({ length: next(240) }, () => scraps[next(scraps.length)] ?? "").join("")

const cutAnyhow = (text: string, next: (below: number) => number): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  for (let at = 0; at < text.length;) {
    const length = 1 + next(12)
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}

describe("text that is still being written", () => {
  it("is cut at the same places however it comes in pieces, and loses nothing", () => {
    const next = random(7)
    for (let round = 0; round < 400; round += 1) {
      const text = randomText(next)
      const whole = clausesOf([text])
      assert.deepStrictEqual(clausesOf(cutAnyhow(text, next)), whole, JSON.stringify(text))
      assert.deepStrictEqual(clausesOf(Array.from({ length: text.length }, (_, at) => text.charAt(at))), whole)
      assert.strictEqual(textsOf(whole).join(""), text)
      let at = 0
      for (const clause of whole) {
        assert.strictEqual(clause.start, at)
        assert.isAtMost(clause.text.length, 440)
        at += clause.text.length
      }
    }
  })
})
