/** Where words begin by the phonemes that are heard, against their marks. Pure. */
import { startsHeard, type Heard } from "#dev/hearing"
import type { WordMark } from "./client.ts"

const lettersOf = (word: string) => word.toLowerCase().replaceAll(/[^a-z]/gu, "")

/** For each word whose first sound was heard as expected, how much later that was than its mark, in milliseconds. */
export const startsAfterMarks = (
  { expected, phonemes }: Heard,
  marks: ReadonlyArray<WordMark>
): ReadonlyArray<number> => {
  const starts = startsHeard(expected, phonemes)
  const differences: Array<number> = []
  let at = 0
  for (const [index, [word]] of expected.entries()) {
    const found = marks.findIndex((mark, place) => place >= at && lettersOf(mark.value) === lettersOf(word))
    if (found < 0) continue
    at = found + 1
    const [start, mark] = [starts[index], marks[found]]
    if (start !== undefined && mark !== undefined) differences.push(start - mark.start_time)
  }
  return differences
}
