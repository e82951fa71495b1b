/**
 * Which events an endpoint wants. An entry is a name, or a pattern in which `*` stands for any run of
 * characters. Without entries an endpoint gets everything but the progress events, which are delivered only
 * where they are asked for.
 */
import { eventCatalogue, findEvent } from "./catalogue.ts"

/** Names per endpoint whose answer is remembered; the catalogue fits many times over. */
const rememberedMax = 1_024

export const compileFilter = (entries: ReadonlyArray<string>): ((event: string) => boolean) => {
  const matches = entries.length === 0 ? isNotProgress : matchesAny(entries)
  const remembered = new Map<string, boolean>()
  return (event) => {
    const known = remembered.get(event)
    if (known !== undefined) return known
    const answer = matches(event)
    if (remembered.size < rememberedMax) remembered.set(event, answer)
    return answer
  }
}

/** Entries that match nothing in the catalogue: allowed, but worth a warning. */
export const unknownFilterNames = (entries: ReadonlyArray<string>): ReadonlyArray<string> =>
  entries.filter((entry) => {
    const matches = matchesAny([entry])
    return !eventCatalogue.some((event) => matches(event.name))
  })

const isNotProgress = (event: string) => findEvent(event)?.isProgress !== true

const matchesAny = (entries: ReadonlyArray<string>) => {
  const patterns = entries.map((entry) => entry.split("*"))
  return (event: string) => patterns.some((parts) => matchesParts(event, parts))
}

// The texts between the stars must follow each other: first at the start, last at the end. Linear, unlike
// a regular expression made from the same pattern.
const matchesParts = (event: string, parts: ReadonlyArray<string>) => {
  const [first = "", ...rest] = parts
  if (rest.length === 0) return event === first
  if (!event.startsWith(first)) return false
  const last = rest.pop() ?? ""
  let at = first.length
  for (const part of rest) {
    const found = event.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return event.length - last.length >= at && event.endsWith(last)
}
