/**
 * Where a sentence is cut into chunks. The first chunk of an input is short, so that it is heard soon: a sentence
 * that is long then ends it at a clause. Afterwards only what is too long to synthesise at once is cut: at a clause,
 * else at a space, else between words. A word is never cut. Lengths are UTF-16 units of what is spoken.
 */
import type { Passage } from "./passage.ts"
import type { Word } from "./words.ts"

export const chunkLimits = {
  firstMin: 10,
  firstMax: 120,
  /** A later chunk is not ended at a clause before this. */
  clauseMin: 100,
  chunkMax: 400
}

const clauseEnd = /[,;:–—؛،.!?…]["'”’»)\]]{0,3}$|\)$/u
/** In Chinese and Japanese no space follows. */
const wideClauseEnd = /[，、；：。！？…][”’」』）》]{0,3}$/u

/** The ends, as indices into `words`, of the chunks that the words from `from` to `to` make. */
export const chunkEnds = (
  passage: Passage,
  words: ReadonlyArray<Word>,
  from: number,
  to: number,
  isFirst: boolean
): ReadonlyArray<number> => {
  const ends: Array<number> = []
  let at = from
  if (isFirst && lengthOf(words, at, to) > chunkLimits.firstMax) {
    at = cutBefore(passage, words, at, to, chunkLimits.firstMax, chunkLimits.firstMin, true)
    ends.push(at)
  }
  while (lengthOf(words, at, to) > chunkLimits.chunkMax) {
    at = cutBefore(passage, words, at, to, chunkLimits.chunkMax, chunkLimits.clauseMin, false)
    ends.push(at)
  }
  if (at < to) ends.push(to)
  return ends
}

const lengthOf = (words: ReadonlyArray<Word>, from: number, to: number) =>
  from < to ? (words[to - 1]?.to ?? 0) - (words[from]?.from ?? 0) : 0

/** Clauses count from `clauseMin` on: the first of them, or the last that fits. One word is always taken. */
const cutBefore = (
  passage: Passage,
  words: ReadonlyArray<Word>,
  from: number,
  to: number,
  lengthMax: number,
  clauseMin: number,
  isSoonest: boolean
): number => {
  let [clause, space, any] = [0, 0, from + 1]
  for (let end = from + 1; end < to && lengthOf(words, from, end) <= lengthMax; end += 1) {
    any = end
    const isSpace = words[end - 1]?.to !== words[end]?.from
    if (isSpace) space = end
    if (lengthOf(words, from, end) >= clauseMin && endsClause(passage, words[end - 1], isSpace)) {
      clause = end
      if (isSoonest) break
    }
  }
  return clause || space || any
}

const endsClause = ({ text }: Passage, word: Word | undefined, isSpace: boolean) => {
  if (word === undefined) return false
  const end = text.slice(Math.max(word.from, word.to - 4), word.to)
  return wideClauseEnd.test(end) || (isSpace && clauseEnd.test(end))
}
