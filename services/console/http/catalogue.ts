/** The catalogue of events over HTTP: the fleet's own, types of the configuration, and types declared at run time. */
import { Effect, Option, Result } from "effect"
import type { BusError } from "#bus"
import { type AuditAction, eventCatalogue, eventSchemaVersion, exampleEnvelope, type Fault, findEvent } from "#base"
import {
  envelopeSchemaOf,
  type EventType,
  EventTypeDeclarations,
  type EventTypeFailure,
  EventTypeIsConfigured,
  exampleEnvelopeOf,
  readEventType
} from "#events"
import { decodeEventType, type EventTypeEntry, type EventTypeRecord } from "#events/contract"
import { eventSchema } from "#pipeline/contract"
import {
  type CatalogueEntry,
  type CatalogueEvent,
  CatalogueGroup,
  type ChangeEventType,
  type DeclareEventType
} from "#console/api"
import { Caller, conflict, HttpCall, jsonAnswer, notFound, routesOf, validationFailed, type WireError } from "#http"
import { Configuration } from "#configuration"
import { AuditLog } from "../AuditLog.ts"
import { apiOptions, cursorText, entryPlaceOf, fieldsOf, type PageRequest, refusing } from "./requests.ts"

/** A type that a deployment declares for its own services. */
interface OwnType {
  readonly source: "configuration" | "run-time"
  readonly settings: Readonly<Record<string, unknown>>
  readonly entry: Result.Result<EventTypeEntry, ReadonlyArray<Fault>>
  readonly record: EventTypeRecord | undefined
}

const ofConfiguration = (entry: EventTypeEntry): OwnType => ({
  source: "configuration",
  settings: { ...entry },
  entry: Result.succeed(entry),
  record: undefined
})

const ofRunTime = (record: EventTypeRecord): OwnType => ({
  source: "run-time",
  settings: record.settings,
  entry: decodeEventType(record.settings),
  record
})

const configuredEntries = Effect.map(Configuration, ({ Events }) => Events.Types)
const configuredEntry = (name: unknown) => Effect.map(configuredEntries, (all) => all.find(({ Name }) => Name === name))

/** The type of that name that is not one of the fleet's own. */
const findOwnType = Effect.fnUntraced(function* (name: string) {
  const entry = yield* configuredEntry(name)
  if (entry !== undefined) return ofConfiguration(entry)
  const found = yield* refusing(
    (yield* EventTypeDeclarations).get(name).pipe(
      Effect.map(ofRunTime),
      Effect.asSome,
      Effect.catchTag("NoSuchEventType", () => Effect.succeed(Option.none<OwnType>()))
    )
  )
  return Option.getOrUndefined(found)
})

/** The declared type of that name; undefined if there is none that can be used. */
export const findDeclaredType = (
  name: string
): Effect.Effect<EventType | undefined, WireError, Configuration | EventTypeDeclarations> =>
  Effect.map(findOwnType(name), (own) =>
    own === undefined ? undefined : Result.getOrUndefined(Result.flatMap(own.entry, readEventType))
  )

/** Whether the catalogue has an event of that name with an example of it. */
export const hasExample = (name: string) =>
  findEvent(name) === undefined
    ? Effect.map(findDeclaredType(name), (type) => type?.example !== undefined)
    : Effect.succeed(true)

const fleetEntries: ReadonlyArray<CatalogueEntry> = eventCatalogue.map(({ name, firedWhen, isProgress }) => ({
  event: name,
  firedWhen,
  isProgress,
  source: "fleet",
  owners: [],
  schemaVersion: eventSchemaVersion,
  isRetired: false,
  revision: null
}))

const nameOf = ({ settings }: OwnType) => String(settings["Name"])

const entryOf = (own: OwnType): CatalogueEntry => {
  const entry = Result.getOrUndefined(own.entry)
  return {
    event: nameOf(own),
    firedWhen: entry?.Description ?? "",
    isProgress: entry?.OptIn ?? false,
    source: own.source,
    owners: entry?.Owners ?? [],
    schemaVersion: entry?.SchemaVersion ?? "",
    isRetired: entry?.Retired ?? false,
    revision: own.record?.revision ?? null
  }
}

const wholeOf = (own: OwnType): CatalogueEvent => {
  const type = Result.flatMap(own.entry, readEventType)
  const shown = Result.getOrElse(type, () => ({
    name: nameOf(own),
    description: undefined,
    schema: undefined,
    example: undefined,
    schemaVersion: eventSchemaVersion
  }))
  return {
    ...entryOf(own),
    schema: envelopeSchemaOf(shown),
    example: exampleEnvelopeOf(shown),
    settings: own.settings,
    faults: Result.isFailure(type) ? type.failure : [],
    created: own.record?.created ?? null,
    changed: own.record?.changed ?? null
  }
}

const wholeOfFleet = (name: string): CatalogueEvent | undefined => {
  const [declaration, entry] = [findEvent(name), fleetEntries.find(({ event }) => event === name)]
  if (declaration === undefined || entry === undefined) return undefined
  const rest = { settings: null, faults: [], created: null, changed: null }
  return { ...entry, schema: eventSchema(declaration), example: exampleEnvelope(name) ?? {}, ...rest }
}

/** Every event by name; the configuration wins over what was declared before it named the type. */
const catalogue = Effect.gen(function* () {
  const declared = yield* refusing((yield* EventTypeDeclarations).list)
  const own = [...declared.map(ofRunTime), ...(yield* configuredEntries).map(ofConfiguration)]
  const byName = new Map(own.map((type) => [nameOf(type), entryOf(type)]))
  for (const entry of fleetEntries) byName.set(entry.event, entry)
  return [...byName.values()].toSorted((left, right) => (left.event < right.event ? -1 : 1))
})

const anyName = /^.+$/su

const listed = Effect.fnUntraced(function* (asked: PageRequest & { readonly source?: CatalogueEntry["source"] }) {
  const { limit, from = "" } = yield* entryPlaceOf(asked, anyName)
  const isWhole = asked.limit === undefined && asked.cursor === undefined
  const rest = (yield* catalogue).filter(
    ({ event, source }) => event > from && (asked.source === undefined || source === asked.source)
  )
  const items = isWhole ? rest : rest.slice(0, limit)
  const last = items.at(-1)
  const isLastPage = last === undefined || items.length === rest.length
  return jsonAnswer({
    schemaVersion: eventSchemaVersion,
    items,
    nextCursor: isLastPage ? null : cursorText(last.event)
  })
})

const eventOfCall = Effect.map(HttpCall, ({ params }) => params["event"] ?? "")
const noSuchEvent = () => notFound("no such event in the catalogue")

const shown = Effect.gen(function* () {
  const name = yield* eventOfCall
  const own = wholeOfFleet(name) ?? (yield* Effect.map(findOwnType(name), (found) => found && wholeOf(found)))
  return own === undefined ? yield* noSuchEvent() : jsonAnswer(own)
})

/** Turns the refusal of a change into the API's. */
const answering = <R>(work: Effect.Effect<EventTypeRecord, EventTypeFailure | BusError, R>) =>
  refusing(
    Effect.catchTags(work, {
      InvalidEventType: ({ faults }) => Effect.fail(validationFailed(fieldsOf(faults))),
      NoSuchEventType: () => Effect.fail(noSuchEvent()),
      EventTypeExists: ({ message }) => Effect.fail(conflict(message)),
      EventTypeIsConfigured: ({ message }) => Effect.fail(conflict(message)),
      EventTypeWasChanged: ({ message }) => Effect.fail(conflict(message)),
      TooManyEventTypes: ({ message }) => Effect.fail(conflict(message))
    })
  )

/** Refuses what only the configuration file changes. */
const refuseConfigured = Effect.fnUntraced(function* (name: string) {
  if ((yield* configuredEntry(name)) !== undefined) return yield* conflict(new EventTypeIsConfigured({ name }).message)
})

const written = Effect.fnUntraced(function* (action: AuditAction, target: string, reason: string) {
  yield* (yield* AuditLog).write({ action, target, reason })
  return (yield* Caller).tokenId
})

const declare = Effect.fnUntraced(function* ({ reason, settings }: DeclareEventType) {
  const name = typeof settings["Name"] === "string" ? settings["Name"] : ""
  yield* refuseConfigured(name)
  const by = yield* written("event-type-declare", name.slice(0, targetCharactersMax), reason)
  const record = yield* answering((yield* EventTypeDeclarations).declare(settings, by))
  return jsonAnswer(wholeOf(ofRunTime(record)), { status: 201 })
})

// A longer name is refused, and still stands in the log.
const targetCharactersMax = 100

const change = Effect.fnUntraced(function* ({ reason, revision, settings: changes }: ChangeEventType) {
  const name = yield* eventOfCall
  if (findEvent(name) !== undefined) return yield* conflict(`${name} is one of the fleet's own events`)
  yield* refuseConfigured(name)
  const declarations = yield* EventTypeDeclarations
  yield* answering(declarations.get(name))
  const by = yield* written("event-type-change", name, reason)
  return jsonAnswer(wholeOf(ofRunTime(yield* answering(declarations.change(name, { revision, changes }, by)))))
})

export const catalogueRoutes = routesOf(
  CatalogueGroup,
  {
    listCatalogue: ({ query }) => Effect.flatMap(query, listed),
    getCatalogueEvent: () => shown,
    declareEventType: ({ body }) => Effect.flatMap(body, declare),
    changeEventType: ({ body }) => Effect.flatMap(body, change)
  },
  apiOptions
)
