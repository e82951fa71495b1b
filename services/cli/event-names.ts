/**
 * Checks typed names and patterns of events: one that matches neither the catalogue nor anything ever published here is
 * refused, with suggestions. Names are open, so a stored event counts as known.
 */
import { Effect } from "effect"
import { StreamReader } from "#bus"
import { compileFilter, eventCatalogue, subjects, unknownFilterNames } from "#contracts"
import { didYouMean } from "./near-names.ts"
import { CommandRefused } from "./console.ts"

const families = eventCatalogue.map(({ name }) => `${name.slice(0, name.indexOf("."))}.*`)

/** The refusal of an unknown name. */
export const noSuchEvent = (name: string): string => {
  const known = [...eventCatalogue.map((event) => event.name), ...families]
  return `there is no event ${name}${didYouMean(name, known)}`
}

export const checkEventNames = Effect.fnUntraced(function* (entries: ReadonlyArray<string>) {
  const unknown = unknownFilterNames(entries)
  if (unknown.length === 0) return
  const reader = yield* StreamReader
  const stored = Object.keys(yield* reader.countBySubject("EVENTS", subjects.eventsAll)).map((subject) =>
    subject.slice(subjects.event("").length)
  )
  const [first] = unknown.filter((entry) => !stored.some(compileFilter([entry])))
  if (first !== undefined) return yield* new CommandRefused({ reason: noSuchEvent(first) })
})
