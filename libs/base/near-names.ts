/** Suggestions for a name that does not exist. Pure. */

const namesMax = 3
// A shorter part occurs in too many names to suggest one.
const partCharactersMin = 4
// The longest name compared letter by letter; in a longer one a letter or two are not a typical mistake.
const charactersMax = 100

/** Up to three names, nearest first; none when nothing is near. */
export const nearNames = (name: string, known: Iterable<string>): ReadonlyArray<string> => {
  if (name.length > charactersMax) return []
  const wrongMax = Math.max(1, Math.floor(name.length / 4))
  const isPart = (other: string) => name.length >= partCharactersMin && other.includes(name)
  const near = [...new Set(known)]
    .map((other) => ({ other, wrong: editsBetween(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, wrong }) => wrong <= wrongMax || isPart(other))
    .toSorted((left, right) => left.wrong - right.wrong)
  // When one name is a single typo away, more distant names were not meant.
  const [best] = near
  const farthest = best !== undefined && best.wrong <= wrongMax ? best.wrong + 1 : Infinity
  return near
    .filter(({ wrong }) => wrong <= farthest)
    .slice(0, namesMax)
    .map(({ other }) => other)
}

/** The end of a refusal; empty when nothing is near. */
export const didYouMean = (name: string, known: Iterable<string>): string => {
  const near = nearNames(name, known)
  const last = near.at(-1)
  if (last === undefined) return ""
  const before = near.slice(0, -1).join(", ")
  return `; did you mean ${before === "" ? last : `${before} or ${last}`}?`
}

/** Letters inserted, dropped, changed, or swapped. */
const editsBetween = (left: string, right: string): number => {
  let before: ReadonlyArray<number> = []
  let row: ReadonlyArray<number> = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let index = 0; index < left.length; index++) {
    const next = [index + 1]
    for (let column = 1; column <= right.length; column++) {
      const changed = (row[column - 1] ?? 0) + (left[index] === right[column - 1] ? 0 : 1)
      const isSwapped = left[index] === right[column - 2] && left[index - 1] === right[column - 1]
      const swapped = isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity
      next.push(Math.min(changed, swapped, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[right.length] ?? 0
}
