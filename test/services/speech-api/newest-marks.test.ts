import { assert, describe, it } from "@effect/vitest"
import type { WordMark } from "#contracts"
import { newestMarks } from "../../../services/speech-api/newest-marks.ts"

const mark = (start: number, end: number, turn?: number): WordMark => {
  const word = { type: "word" as const, start, end, start_time: start, end_time: end, value: "x".repeat(end - start) }
  return turn === undefined ? word : { ...word, turn }
}

describe("marks", () => {
  it("come once, also when a session that goes on elsewhere repeats those of its chunk", () => {
    const unseen = newestMarks()
    const [one, two, three, four] = [mark(0, 5), mark(6, 9), mark(10, 12), mark(13, 20)]
    assert.deepStrictEqual(unseen([one, two]), [one, two])
    assert.deepStrictEqual(unseen([]), [])
    assert.deepStrictEqual(unseen([two, three]), [three])
    assert.deepStrictEqual(unseen([one, two, three]), [])
    assert.deepStrictEqual(unseen([one, two, three, four]), [four])
  })

  it("may abut", () => {
    const unseen = newestMarks()
    const [one, two] = [mark(0, 1), mark(1, 2)]
    assert.deepStrictEqual(unseen([one]), [one])
    assert.deepStrictEqual(unseen([two]), [two])
  })

  it("of a dialogue begin anew with every turn, and do not go back", () => {
    const unseen = newestMarks()
    const [first, second, third] = [mark(0, 5, 0), mark(0, 3, 1), mark(4, 8, 1)]
    assert.deepStrictEqual(unseen([first]), [first])
    assert.deepStrictEqual(unseen([first, second]), [second])
    assert.deepStrictEqual(unseen([mark(6, 9, 0), second, third]), [third])
  })
})
