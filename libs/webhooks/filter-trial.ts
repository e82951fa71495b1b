/** What filters make of events that there were, before an endpoint has them. Pure. */
import { compileFilter } from "#base"
import type { EndpointSettings } from "#webhooks/contract"
import { compileContentFilter, firstMismatch } from "./content-filter.ts"
import type { StoredEvent } from "./stored-event.ts"

/** Why an event does not fit: the first field that fails, as a JSON pointer, and what is there. */
export interface Mismatch {
  readonly path: string
  readonly found: unknown
}

export interface FilterTrial {
  readonly fitting: ReadonlyArray<StoredEvent>
  /** Those that fit by name come first: their content says more than a name. */
  readonly others: ReadonlyArray<{ readonly event: StoredEvent; readonly mismatch: Mismatch }>
}

export const tryFilters = (
  { EventFilter, ContentFilter = {} }: Pick<EndpointSettings, "EventFilter" | "ContentFilter">,
  events: ReadonlyArray<StoredEvent>
): FilterTrial => {
  const wants = compileFilter(EventFilter)
  const isNamed = ({ event, isOptIn }: StoredEvent) => wants(event, isOptIn)
  const [byName, unnamed] = [events.filter(isNamed), events.filter((event) => !isNamed(event))]
  const fits = compileContentFilter(ContentFilter)
  const mismatchOf = ({ envelope }: StoredEvent) =>
    firstMismatch(ContentFilter, envelope) ?? { path: "", found: envelope }
  return {
    fitting: byName.filter(({ envelope }) => fits(envelope)),
    others: [
      ...byName.filter(({ envelope }) => !fits(envelope)).map((event) => ({ event, mismatch: mismatchOf(event) })),
      ...unnamed.map((event) => ({ event, mismatch: { path: "/event", found: event.event } }))
    ]
  }
}
