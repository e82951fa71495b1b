/** The ids that a mistaken one may have meant: those that share the longest parts with it, the nearest first. Pure. */

const suggestionsMax = 5
// Ids of strangers are compared only so far.
const charactersMax = 128

const pairsOf = (text: string) => {
  const plain = text.slice(0, charactersMax).toLowerCase()
  return new Set(Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2)))
}

export const suggestModels = (id: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const wanted = pairsOf(id)
  const scored = known.map((other) => {
    const pairs = pairsOf(other)
    const shared = [...pairs].filter((pair) => wanted.has(pair)).length
    return { other, score: (2 * shared) / Math.max(1, pairs.size + wanted.size) }
  })
  return scored
    .toSorted((left, right) => right.score - left.score)
    .slice(0, suggestionsMax)
    .map(({ other }) => other)
}
