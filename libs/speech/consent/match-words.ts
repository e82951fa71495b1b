/** How much of a phrase was heard. Pure. */

/** The length of the longest common subsequence: words in order, whatever stands between them. */
export const phraseWordsMatched = (asked: ReadonlyArray<string>, heard: ReadonlyArray<string>): number => {
  let before = asked.map(() => 0)
  for (const word of heard) {
    const now: Array<number> = []
    for (const [at, other] of asked.entries()) {
      const both = word === other ? (before[at - 1] ?? 0) + 1 : 0
      now.push(Math.max(both, now[at - 1] ?? 0, before[at] ?? 0))
    }
    before = now
  }
  return before.at(-1) ?? 0
}
