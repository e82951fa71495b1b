/** Filters that no event can pass, such as one for a name that is written wrong. Pure. */
import { mayComeFromOutside } from "#bus"
import { compileFilter, didYouMean, Envelope, eventCatalogue, type Fault } from "#base"
import type { EventType, EventTypes } from "#events"
import type { FilterAlternative, ContentFilter, EndpointSettings } from "#webhooks/contract"
import { compileContentFilter } from "./content-filter.ts"

type DeclaredEvent = Pick<EventType, "name" | "isOptIn">

/** The events that there are. `isOpen`: there may be others from outside the fleet, which nobody declared. */
export interface EventNames {
  readonly declared: ReadonlyArray<DeclaredEvent>
  readonly isOpen: boolean
}

/** Those of the catalogue, and of the types in force. */
export const eventNames = (types: Pick<EventTypes["Service"], "all" | "takesUndeclared">): EventNames => ({
  declared: [...eventCatalogue.map(({ name, isProgress }) => ({ name, isOptIn: isProgress === true })), ...types.all()],
  isOpen: types.takesUndeclared
})

type Filters = Pick<EndpointSettings, "EventFilter" | "ContentFilter">

export const filterFaults = ({ EventFilter, ContentFilter = {} }: Filters, names: EventNames): ReadonlyArray<Fault> => {
  const unknown = EventFilter.flatMap((entry, at) =>
    takenBy([entry], names.declared).length > 0 || mayBe(entry, names)
      ? []
      : [{ path: `/EventFilter/${at}`, message: noSuchEvent(entry, names.declared) }]
  )
  const chosen = takenBy(EventFilter, names.declared)
  return [...unknown, ...contentFaults(ContentFilter, "/ContentFilter", { ...names, chosen })]
}

const takenBy = (filter: ReadonlyArray<string>, declared: ReadonlyArray<DeclaredEvent>) => {
  const wants = compileFilter(filter)
  return declared.filter(({ name, isOptIn }) => wants(name, isOptIn))
}

/** Whether an event that nobody declared may have this name. */
const mayBe = (name: string, { isOpen }: EventNames) => isOpen && mayComeFromOutside(name)

/** What is wrong with a name that no event has, and which was meant. */
export const noSuchEvent = (name: string, declared: ReadonlyArray<Pick<EventType, "name">>): string => {
  const known = declared.map((event) => event.name)
  const families = known.map((each) => `${each.slice(0, each.indexOf("."))}.*`)
  return `there is no event ${name}${didYouMean(name, [...known, ...families])}`
}

interface ChosenNames extends EventNames {
  /** Those that the names of the endpoint choose. */
  readonly chosen: ReadonlyArray<DeclaredEvent>
}

const envelopeFields = Object.keys(Envelope.fields)

const contentFaults = (filter: ContentFilter, path: string, names: ChosenNames): ReadonlyArray<Fault> =>
  Object.entries(filter).flatMap(([key, inner]) => {
    const at = `${path}/${key}`
    if (key === "$or") {
      const branches = inner as ReadonlyArray<ContentFilter>
      return branches.flatMap((branch, index) => contentFaults(branch, `${at}/${index}`, names))
    }
    if (key === "event") return eventFaults(inner, at, names)
    if (envelopeFields.includes(key)) return []
    return [{ path: at, message: `no envelope has this field${didYouMean(key, envelopeFields)}` }]
  })

const eventFaults = (inner: ContentFilter[string], path: string, names: ChosenNames): ReadonlyArray<Fault> => {
  const { declared, chosen, isOpen } = names
  const alternatives = Array.isArray(inner) ? (inner as ReadonlyArray<FilterAlternative>) : []
  const never = alternatives.flatMap((alternative, at) => {
    const name = textOf(alternative)
    return isAnyFitting([alternative], declared) || mayBe(name, names)
      ? []
      : [{ path: `${path}/${at}`, message: noSuchEvent(name, declared) }]
  })
  if (never.length > 0 || isOpen || isAnyFitting(inner, chosen)) return never
  return [{ path, message: "fits no event that EventFilter chooses" }]
}

const isAnyFitting = (event: ContentFilter[string], names: ReadonlyArray<DeclaredEvent>) => {
  const fits = compileContentFilter({ event })
  return names.some(({ name }) => fits({ event: name }))
}

const textOf = (alternative: FilterAlternative) =>
  typeof alternative === "string" ? alternative : JSON.stringify(alternative)
