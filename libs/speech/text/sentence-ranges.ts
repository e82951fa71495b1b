/** Which words make which sentence: a word belongs to the sentence in which it begins. */
import type { Passage } from "./passage.ts"
import { sentenceEnds } from "./sentences.ts"
import type { Word } from "./words.ts"

/** Index ranges into `words`, in order, none of them empty, all of them together. */
export const sentenceRanges = (
  passage: Passage,
  words: ReadonlyArray<Word>,
  locale: string
): ReadonlyArray<readonly [from: number, to: number]> => {
  const ranges: Array<readonly [from: number, to: number]> = []
  const spoken = maskAliases(passage)
  let [start, from] = [0, 0]
  for (const boundary of [...passage.boundaries, passage.text.length]) {
    for (const end of sentenceEnds(spoken.slice(start, boundary), locale)) {
      let to = from
      while ((words[to]?.from ?? Infinity) < start + end) to += 1
      if (to > from) ranges.push([from, to])
      from = to
    }
    start = boundary
  }
  return ranges
}

// A full stop inside an alias ends no sentence of the input.
const maskAliases = ({ segments, text }: Passage) => {
  const parts: Array<string> = []
  let at = 0
  for (const { from, to, whole } of segments) {
    if (!whole || to - from < 2) continue
    parts.push(text.slice(at, from), text.slice(from, to - 1).replaceAll(/[.!?。！？…\n]/gu, ","))
    at = to - 1
  }
  return parts.join("") + text.slice(at)
}
