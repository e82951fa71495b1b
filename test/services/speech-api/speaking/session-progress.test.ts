import { assert, describe, it } from "@effect/vitest"
import type { WordMark } from "#speech/contract"
import { newestMarks, windowOf } from "../../../../services/speech-api/speaking/session-progress.ts"

const megabytes = (count: number) => count * 1_048_576

describe("the window of a session", () => {
  it.each([
    [32, 0, 240_000],
    [32, 1, 240_000],
    [32, 69, 240_000],
    [32, 70, 239_674],
    [32, 500, 33_554],
    [32, 10_000, 12_000],
    [1, 1, 240_000],
    [1, 100, 12_000]
  ])("of %s MB shared by %s sessions is %s samples", (size, sessions, samples) => {
    assert.strictEqual(windowOf(megabytes(size), sessions), samples)
  })

  it("keeps all sessions together within the bound, down to half a second each", () => {
    const numbers = Array.from({ length: 1_398 }, (_, index) => index + 1)
    const isWithin = (sessions: number) => windowOf(megabytes(32), sessions) * sessions * 2 <= megabytes(32)
    assert.deepStrictEqual(
      numbers.filter((sessions) => !isWithin(sessions)),
      []
    )
  })
})

const mark = (start: number, end: number, turn?: number): WordMark => {
  const word = { type: "word" as const, start, end, start_time: start, end_time: end, value: "x".repeat(end - start) }
  return turn === undefined ? word : { ...word, turn }
}

describe("marks", () => {
  it("come once, even when a resumed session repeats those of its chunk", () => {
    const unseen = newestMarks()
    const [one, two, three, four] = [mark(0, 5), mark(6, 9), mark(10, 12), mark(13, 20)]
    assert.deepStrictEqual(unseen([one, two]), [one, two])
    assert.deepStrictEqual(unseen([]), [])
    assert.deepStrictEqual(unseen([two, three]), [three])
    assert.deepStrictEqual(unseen([one, two, three]), [])
    assert.deepStrictEqual(unseen([one, two, three, four]), [four])
  })

  it("may touch", () => {
    const unseen = newestMarks()
    const [one, two] = [mark(0, 1), mark(1, 2)]
    assert.deepStrictEqual(unseen([one]), [one])
    assert.deepStrictEqual(unseen([two]), [two])
  })

  it("of a dialogue restart with every turn, and do not go back", () => {
    const unseen = newestMarks()
    const [first, second, third] = [mark(0, 5, 0), mark(0, 3, 1), mark(4, 8, 1)]
    assert.deepStrictEqual(unseen([first]), [first])
    assert.deepStrictEqual(unseen([first, second]), [second])
    assert.deepStrictEqual(unseen([mark(6, 9, 0), second, third]), [third])
  })
})
