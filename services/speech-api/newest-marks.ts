/** Marks come once: a session that was taken up by another sequencer repeats those of its current chunk. */
import type { WordMark } from "#contracts"

export const newestMarks = () => {
  let turn = 0
  let end = 0
  return (marks: ReadonlyArray<WordMark>): ReadonlyArray<WordMark> => {
    const fresh = marks.filter((mark) => {
      const ofTurn = mark.turn ?? 0
      return ofTurn > turn || (ofTurn === turn && mark.start >= end)
    })
    const last = fresh.at(-1)
    if (last !== undefined) {
      turn = last.turn ?? 0
      end = last.end
    }
    return fresh
  }
}
