/**
 * Every event, by name, and the patterns by which endpoints choose among them. Other names can still pass: receivers
 * and filters treat names as open.
 */
import { agentEvents } from "./agents.ts"
import type { EventDeclaration } from "./declaration.ts"
import { projectEvents, releaseEvents } from "./projects.ts"
import { progressEvents, waitingEvents, workItemEvents } from "./work-items.ts"

export const eventCatalogue: ReadonlyArray<EventDeclaration> = [
  ...workItemEvents,
  ...waitingEvents,
  ...progressEvents,
  ...agentEvents,
  ...projectEvents,
  ...releaseEvents
]

const byName = new Map(eventCatalogue.map((event) => [event.name, event]))

export const findEvent = (name: string): EventDeclaration | undefined => byName.get(name)

/**
 * The version of the envelope's contract, and the fingerprint of the catalogue that it belongs to. New events and new
 * optional details fields are a minor bump. A test compares the fingerprint, so the bump cannot be forgotten.
 */
export const eventSchemaVersion = "1.3.0"

export const catalogueFingerprint = "2a5feb64983c59a5"

/** Whether an event is wanted. `isOptIn`: it goes only to whom asks for it; by default, what the catalogue says. */
export type EventFilter = (event: string, isOptIn?: boolean) => boolean

export const compileFilter = (entries: ReadonlyArray<string>): EventFilter =>
  entries.length === 0 ? isNotOptIn : matchesAny(entries)

/** The entries that match nothing in the catalogue: allowed, but worth a warning. */
export const unknownFilterNames = (entries: ReadonlyArray<string>): ReadonlyArray<string> =>
  entries.filter((entry) => {
    const matches = matchesAny([entry])
    return !eventCatalogue.some((event) => matches(event.name))
  })

const isNotOptIn: EventFilter = (event, isOptIn = findEvent(event)?.isProgress === true) => !isOptIn

const matchesAny = (entries: ReadonlyArray<string>) => {
  const patterns = entries.map((entry) => entry.split("*"))
  return (event: string) => patterns.some((parts) => matchesParts(event, parts))
}

// The texts between the stars must follow in order: the first at the start, the last at the end. This is linear, unlike
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
