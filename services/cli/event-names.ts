/** Event names that are not declared, and the names that were probably meant. Pure. */
import { compileFilter, eventCatalogue, unknownFilterNames } from "#base"
import { noSuchEvent as noSuchEventOf } from "#webhooks"

/** The refusal of an event name that does not exist. `declared`: the names of types beside the fleet's own events. */
export const noSuchEvent = (name: string, declared: ReadonlyArray<string> = []): string =>
  noSuchEventOf(name, [...eventCatalogue, ...declared.map((each) => ({ name: each }))])

/** The names and patterns among these that choose neither an event of the fleet nor a declared one. */
export const unknownNames = (entries: ReadonlyArray<string>, declared: ReadonlyArray<string>): ReadonlyArray<string> =>
  unknownFilterNames(entries).filter((entry) => !declared.some((name) => compileFilter([entry])(name)))
