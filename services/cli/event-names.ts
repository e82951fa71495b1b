/** Event names missing from the catalogue, and the names that were probably meant. Pure. */
import { eventCatalogue, unknownFilterNames } from "#base"
import { noSuchEvent as noSuchEventOf } from "#webhooks"

/** The refusal of an event name that does not exist. */
export const noSuchEvent = (name: string): string => noSuchEventOf(name, eventCatalogue)

/**
 * A note for each filter that matches no event of the catalogue: allowed, because names are open, but likely a typo.
 */
export const nearFilters = (filters: ReadonlyArray<string>) => unknownFilterNames(filters).map(noSuchEvent)
