/** Names of events that the catalogue does not have, and what may be meant by them. Pure. */
import { eventCatalogue, unknownFilterNames } from "#base"
import { didYouMean } from "./faults.ts"

/** The refusal of a name that no event has. */
export const noSuchEvent = (name: string): string => {
  const names = eventCatalogue.map((event) => event.name)
  const families = names.map((each) => `${each.slice(0, each.indexOf("."))}.*`)
  return `there is no event ${name}${didYouMean(name, [...names, ...families])}`
}

/** A note for each filter that no event of the catalogue matches: allowed, for names are open, and likely a slip. */
export const nearFilters = (filters: ReadonlyArray<string>) => unknownFilterNames(filters).map(noSuchEvent)
