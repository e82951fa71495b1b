/**
 * The events that an endpoint wants. An entry is a name, or a pattern in which `*` stands for any run of characters. An
 * endpoint without entries gets every event except the progress events, which are delivered only to endpoints that ask
 * for them.
 */
import { eventCatalogue, findEvent } from "./catalogue.ts"

export const compileFilter = (entries: ReadonlyArray<string>): ((event: string) => boolean) =>
  entries.length === 0 ? isNotProgress : matchesAny(entries)

/** The entries that match nothing in the catalogue: allowed, but worth a warning. */
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

// The texts between the stars must follow each other: the first at the start, the last at the end. This is linear,
// unlike a regular expression made from the same pattern.
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
