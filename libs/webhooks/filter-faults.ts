/**
 * Filters that no event can pass, such as one for a name that is written wrong. `declared`: the names of all events
 * that there are. Pure.
 */
import { compileFilter, didYouMean, Envelope, type Fault } from "#base"
import type { Alternative, ContentFilter, EndpointSettings } from "#webhooks/contract"
import { compileContentFilter } from "./content-filter.ts"

type Filters = Pick<EndpointSettings, "EventFilter" | "ContentFilter">

export const filterFaults = (filters: Filters, declared: ReadonlyArray<string>): ReadonlyArray<Fault> => {
  const { EventFilter, ContentFilter = {} } = filters
  const unknown = EventFilter.flatMap((entry, at) =>
    isAnyWanted(entry, declared) ? [] : [{ path: `/EventFilter/${at}`, message: noSuchEvent(entry, declared) }]
  )
  const wants = compileFilter(EventFilter)
  const chosen = declared.filter((name) => wants(name))
  return [...unknown, ...contentFaults(ContentFilter, "/ContentFilter", { declared, chosen })]
}

const isAnyWanted = (entry: string, names: ReadonlyArray<string>) => {
  const wants = compileFilter([entry])
  return names.some((name) => wants(name))
}

/** What is wrong with a name that no event has, and which was meant. */
export const noSuchEvent = (name: string, declared: ReadonlyArray<string>): string => {
  const families = declared.map((each) => `${each.slice(0, each.indexOf("."))}.*`)
  return `there is no event ${name}${didYouMean(name, [...declared, ...families])}`
}

interface Names {
  readonly declared: ReadonlyArray<string>
  /** Those that the names of the endpoint choose. */
  readonly chosen: ReadonlyArray<string>
}

const envelopeFields = Object.keys(Envelope.fields)

const contentFaults = (filter: ContentFilter, path: string, names: Names): ReadonlyArray<Fault> =>
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

const eventFaults = (inner: ContentFilter[string], path: string, { declared, chosen }: Names): ReadonlyArray<Fault> => {
  const takesAny = (names: ReadonlyArray<string>, event: ContentFilter[string]) => {
    const fits = compileContentFilter({ event })
    return names.some((name) => fits({ event: name }))
  }
  const alternatives = Array.isArray(inner) ? (inner as ReadonlyArray<Alternative>) : []
  const never = alternatives.flatMap((alternative, at) =>
    takesAny(declared, [alternative])
      ? []
      : [{ path: `${path}/${at}`, message: noSuchEvent(nameIn(alternative), declared) }]
  )
  if (never.length > 0 || takesAny(chosen, inner)) return never
  return [{ path, message: "fits no event that EventFilter chooses" }]
}

const nameIn = (alternative: Alternative) =>
  typeof alternative === "string" ? alternative : JSON.stringify(alternative)
