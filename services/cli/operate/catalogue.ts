/** The names of the console's catalogue: those of the fleet's own events, and of declared types. */
import { Effect } from "effect"
import { noSuchEvent, unknownNames } from "../event-names.ts"
import { type Client } from "./client.ts"

export const declaredNames = (client: Client) =>
  Effect.map(client.listCatalogue({ query: {} }), ({ items }) => items.map(({ event }) => event))

/**
 * What is wrong with each filter that matches no event of the catalogue: allowed, because names are open, but likely a
 * typo.
 */
export const slipsIn = Effect.fnUntraced(function* (client: Client, filters: ReadonlyArray<string>) {
  if (unknownNames(filters, []).length === 0) return []
  const declared = yield* declaredNames(client)
  return unknownNames(filters, declared).map((name) => noSuchEvent(name, declared))
})
