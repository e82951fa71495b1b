/** Event names missing from the catalogue, and the names that were probably meant. Pure. */
import { eventCatalogue, unknownFilterNames } from "#base"
import { didYouMean } from "./faults.ts"

/** The refusal of an event name that does not exist. */
export const noSuchEvent = (name: string): string => {
  const names = eventCatalogue.map((event) => event.name)
  const families = names.map((each) => `${each.slice(0, each.indexOf("."))}.*`)
  return `there is no event ${name}${didYouMean(name, [...names, ...families])}`
}

/**
 * A note for each filter that matches no event of the catalogue: allowed, because names are open, but likely a typo.
 */
export const nearFilters = (filters: ReadonlyArray<string>) => unknownFilterNames(filters).map(noSuchEvent)
