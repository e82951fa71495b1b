/** `Events`: which events beside the fleet's own may be published. */
import { Schema } from "effect"
import { section, withDefault } from "#base"
import { EventTypeEntry } from "./event-types.ts"

/** As many as a person can oversee; the bucket of those made at run time has the same limit. */
export const eventTypesMax = 1_000

/** The names declared more than once. */
export const repeatedTypes = (entries: ReadonlyArray<Pick<EventTypeEntry, "Name">>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return entries.flatMap(({ Name }) => {
    if (seen.has(Name)) return [`the event type ${Name} is declared twice`]
    seen.add(Name)
    return []
  })
}

export const Events = section({
  Types: withDefault(
    Schema.Array(EventTypeEntry).check(Schema.isMaxLength(eventTypesMax), Schema.makeFilter(repeatedTypes)),
    [],
    "The event types of your own services, beside the fleet's own. More can be declared at run time."
  ),
  Source: withDefault(
    Schema.String.check(Schema.isPattern(/^[!#-;=?-Z_a-z~]+$/u), Schema.isMaxLength(256)),
    "/starling",
    "The `source` of events that leave as CloudEvents and did not come as such, a URI-reference. Fleets with one receiver need a source each: `source` and `id` name an event."
  ),
  Undeclared: withDefault(
    Schema.Literals(["reject", "deliver"]),
    "reject",
    "What becomes of an event from outside the fleet whose type nobody declared: put into REJECTED and told to its publisher, or delivered like any other."
  )
})
export interface Events extends Schema.Schema.Type<typeof Events> {}
