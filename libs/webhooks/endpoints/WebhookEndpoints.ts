/**
 * Webhook endpoints at run time: created, changed, disabled, removed, and their secrets rotated, while dispatchers run.
 * Each change is one compare-and-set, and can be requested again. Endpoints of the configuration file are not here:
 * they are read-only, and win by name.
 */
import { Clock, Context, Effect, Layer, Option, Result, Stream } from "effect"
import { type BusError, kept, type KvEntry, records, replaced, StreamReader } from "#bus"
import {
  type Act,
  type CertificateFacts,
  endpointIdOf,
  type EndpointRecord,
  type EndpointSettings,
  type WebhookDelivery
} from "#webhooks/contract"
import { type Fault, isoTime } from "#base"
import { EventTypes } from "#events"
import { InvalidConfiguration, secretFromEnv } from "#runtime"
import { readDeliveryLanes } from "../fan-out-cursor.ts"
import { type EventNames, eventNames, filterFaults } from "../filter-faults.ts"
import { readRoster } from "../roster.ts"
import {
  type Creation,
  decideChange,
  decideCreation,
  type Decided,
  decideEnabling,
  decideRemoval,
  decideRotation,
  readSettings,
  resealed,
  type Rotation
} from "./changes.ts"
import { certificateFacts, openCredentials } from "./credentials.ts"
import {
  type EndpointExists,
  EndpointIsConfigured,
  EndpointIsLeaving,
  type EndpointWasChanged,
  InvalidEndpoint,
  NoSuchEndpoint,
  type NotActedOn,
  TooManyEndpoints
} from "./errors.ts"
import { type SecretSeal, secretSeal } from "./seal.ts"
import { awaitActedOn, openEndpointStore, openPresences } from "./store.ts"

/**
 * The public view of an endpoint: no secret, and only the names of the receiver's own headers and of its URL's query
 * parameters.
 */
export interface ShownEndpoint {
  readonly id: string
  readonly name: string
  /** Counts changes; a change names the revision that it follows. */
  readonly revision: number
  readonly isEnabled: boolean
  readonly settings: Omit<EndpointSettings, "Headers"> | null
  readonly headerNames: ReadonlyArray<string>
  /** The names of its credentials. */
  readonly credentialNames: ReadonlyArray<string>
  readonly certificates: ReadonlyArray<CertificateFacts>
  /** Why the settings are unusable; empty when they are usable. */
  readonly faults: ReadonlyArray<Fault>
  readonly isSigned: boolean
  readonly hasStandardWebhooks: boolean
  /** Until when (epoch ms) a rotated secret still signs; null without one. */
  readonly previousSecretUntilMs: number | null
  /** The last event before its own: it gets those after it. */
  readonly startsAfter: number
  readonly created: Act
  readonly changed: Act
}

/** Who asks, and for which endpoint. `revision`: the one that the caller last read. */
interface Request {
  readonly name: string
  readonly by: string
  readonly revision?: number | undefined
}

export interface Resealed {
  /** How many were sealed anew; the others were already. */
  readonly resealed: number
  /** The names of those that none of the keys opens. */
  readonly unreadable: ReadonlyArray<string>
}

type WriteError = BusError | NoSuchEndpoint | EndpointIsConfigured | EndpointWasChanged

export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    readonly list: Effect.Effect<ReadonlyArray<ShownEndpoint>, BusError>
    readonly get: (name: string) => Effect.Effect<ShownEndpoint, BusError | NoSuchEndpoint>
    /** Its first event is the first one after `startsAfter` in the answer. */
    readonly create: (
      creation: Creation & { readonly by: string }
    ) => Effect.Effect<
      ShownEndpoint,
      BusError | InvalidEndpoint | EndpointExists | EndpointIsConfigured | EndpointIsLeaving | TooManyEndpoints
    >
    /** Merges keys into the settings; null resets a key to its default. Dispatchers follow within a second. */
    readonly change: (request: Changing) => Effect.Effect<ShownEndpoint, WriteError | InvalidEndpoint>
    readonly enable: (request: Request) => Effect.Effect<ShownEndpoint, WriteError>
    /** Nothing is sent after the answer; events are kept for it as for a paused endpoint. */
    readonly disable: (request: Request) => Effect.Effect<ShownEndpoint, WriteError | NotActedOn>
    /** Nothing is sent after the answer, whichever it is. False when no endpoint has this name. */
    readonly remove: (request: Request) => Effect.Effect<boolean, WriteError | NotActedOn>
    /** Seals what the bus keeps of every endpoint with the present key. */
    readonly reseal: Effect.Effect<Resealed, BusError>
    readonly rotate: (request: Request & Rotation) => Effect.Effect<ShownEndpoint, WriteError | InvalidEndpoint>
  }
>()("starling/webhooks/WebhookEndpoints") {
  static readonly layer = (settings: SealSettings) =>
    Layer.effect(
      WebhookEndpoints,
      Effect.gen(function* () {
        const deps = yield* openDependencies(settings)
        const { store, seal } = deps
        const enabling = (request: Request, isEnabled: boolean) =>
          write(deps, request, (before, act) => decideEnabling(before, isEnabled, { ...guardOf(request), act }))
        return WebhookEndpoints.of({
          list: Effect.map(Stream.runCollect(store.bucket.scan(">")), (entries) =>
            entries.flatMap(({ value }) => (value.removed === null ? [shown(value, seal)] : []))
          ),
          get: (name) => Effect.map(present(deps, name), ({ value }) => shown(value, seal)),
          create: (creation) => create(deps, creation),
          change: (request) => change(deps, request),
          rotate: (request) =>
            Effect.map(
              write(deps, request, (before, act, nowMs) =>
                decideRotation(before, request, { ...guardOf(request), seal, act, nowMs })
              ),
              ({ record }) => shown(record, seal)
            ),
          enable: (request) => Effect.map(enabling(request, true), ({ record }) => shown(record, seal)),
          disable: (request) =>
            Effect.map(Effect.tap(enabling(request, false), actedOn(deps)), ({ record }) => shown(record, seal)),
          remove: (request) => remove(deps, request),
          reseal: reseal(deps)
        })
      })
    )
}

interface Dependencies extends Effect.Success<ReturnType<typeof openDependencies>> {}

type SealSettings = Pick<WebhookDelivery, "SecretsKeyEnvVar" | "PreviousSecretsKeyEnvVar">

/** The seal of endpoints' secrets as configured. */
export const configuredSeal = Effect.fnUntraced(function* (settings: SealSettings) {
  const keyOf = (key: keyof SealSettings) => {
    const variable = settings[key]
    if (variable === undefined) return Effect.undefined
    return secretFromEnv({ variable, path: `WebhookDelivery.${key}`, kind: "sealing" }).pipe(
      Effect.mapError((fault) => new InvalidConfiguration({ faults: [fault] }))
    )
  }
  return secretSeal(yield* keyOf("SecretsKeyEnvVar"), yield* keyOf("PreviousSecretsKeyEnvVar"))
})

const openDependencies = Effect.fnUntraced(function* (settings: SealSettings) {
  const store = yield* openEndpointStore
  const types = yield* EventTypes
  return {
    store,
    endpoints: records(store.bucket),
    seal: yield* configuredSeal(settings),
    presences: yield* openPresences,
    reader: yield* StreamReader,
    names: Effect.map(types.catchUp, () => eventNames(types))
  }
})

const guardOf = ({ revision }: Request) => ({ revision })

const actedOn =
  ({ presences }: Dependencies) =>
  ({ revision }: { readonly revision: number }) =>
    awaitActedOn(presences, revision)

/** Refuses filters that no event can pass. */
const reachable = (
  { seal }: Dependencies,
  decided: Decided,
  names: EventNames
): Result.Result<Decided, InvalidEndpoint> => {
  const faults = Result.match(readSettings(decided.record, seal), {
    onFailure: (unread) => unread,
    onSuccess: (settings) => filterFaults(settings, names)
  })
  return faults.length === 0 ? Result.succeed(decided) : Result.fail(new InvalidEndpoint({ faults }))
}

// More endpoints than this need a second deployment; the configuration file has the same limit.
const endpointsMax = 10_000

const create = Effect.fn("WebhookEndpoints.create")(function* (
  deps: Dependencies,
  { by, ...creation }: Creation & { readonly by: string }
) {
  const { seal, reader } = deps
  const nowMs = yield* Clock.currentTimeMillis
  const context = { seal, act: { at: isoTime(nowMs), by }, startsAfter: 0 }
  // Checked once before any request to the broker, but for the names of events.
  const names = yield* deps.names
  const first = yield* Effect.fromResult(
    Result.flatMap(decideCreation(undefined, creation, context), (decided) => reachable(deps, decided, names))
  )
  const { name } = first.record
  const id = endpointIdOf(name)
  const goesOn = yield* refuseConfigured(deps, id, name)
  const before = yield* settled(deps, id, name)
  if (Option.isSome(before)) {
    return shown((yield* Effect.fromResult(decideCreation(before.value.value, creation, context))).record, seal)
  }
  const { messages } = yield* reader.bounds("KV_webhook-endpoints")
  if (messages >= endpointsMax) return yield* new TooManyEndpoints({ endpointsMax })
  // The last step before the write: what is published after the answer belongs to the endpoint.
  const { lastSequence: startsAfter } = yield* reader.bounds("EVENTS")
  const { record } = yield* Effect.fromResult(decideCreation(undefined, creation, { ...context, startsAfter, goesOn }))
  const created = yield* deps.endpoints.change(id, (raced) =>
    raced === undefined
      ? replaced(record)
      : Result.map(decideCreation(raced, creation, context), (decided) => ({ answer: decided.record }))
  )
  return shown(created.answer, seal)
})

type Changing = Request & { readonly revision: number; readonly changes: Readonly<Record<string, unknown>> }

const change = Effect.fn("WebhookEndpoints.change")(function* (deps: Dependencies, request: Changing) {
  const { seal } = deps
  const { changes } = request
  // An endpoint that was made before an event's end keeps its filters: only a change of them is refused.
  const names = "EventFilter" in changes || "ContentFilter" in changes ? yield* deps.names : undefined
  const { record } = yield* write(deps, request, (before, act) =>
    Result.flatMap(decideChange(before, changes, { ...request, seal, act }), (decided) =>
      names === undefined ? Result.succeed(decided) : reachable(deps, decided, names)
    )
  )
  return shown(record, seal)
})

/** Returns whether one that has left the configuration still has its place. */
const refuseConfigured = Effect.fnUntraced(function* ({ reader }: Dependencies, id: string, name: string) {
  const { streams } = yield* Effect.provideService(readDeliveryLanes, StreamReader, reader)
  let hasPlace = false
  for (let lane = 0; lane < streams; lane += 1) {
    const { endpoints } = yield* Effect.provideService(readRoster(lane), StreamReader, reader)
    if (endpoints[id]?.absentSinceMs === null) return yield* new EndpointIsConfigured({ name })
    hasPlace ||= endpoints[id] !== undefined
  }
  return hasPlace
})

// A dispatcher archives deliveries four times a second.
const leavingLooks = 50
const lookEvery = "100 millis"

/** The record under an id, once a removed one is archived. */
const settled = Effect.fnUntraced(function* ({ store }: Dependencies, id: string, name: string) {
  for (let looks = 0; looks < leavingLooks; looks += 1) {
    const entry = yield* store.bucket.get(id)
    if (Option.isNone(entry) || entry.value.value.removed === null) return entry
    yield* Effect.sleep(lookEvery)
  }
  return yield* new EndpointIsLeaving({ name })
})

const present = Effect.fnUntraced(function* (
  { store }: Dependencies,
  name: string
): Effect.fn.Return<KvEntry<EndpointRecord>, BusError | NoSuchEndpoint> {
  const entry = yield* store.bucket.get(endpointIdOf(name))
  if (Option.isNone(entry) || entry.value.value.removed !== null || entry.value.value.name !== name) {
    return yield* new NoSuchEndpoint({ name })
  }
  return entry.value
})

type Deciding<E> = (before: EndpointRecord, act: Act, nowMs: number) => Result.Result<Decided, E>

/** The record as the decision leaves it; undefined when no endpoint has this name. */
const decideAndStore = <E>(
  { endpoints }: Dependencies,
  { name, by }: Request,
  decide: Deciding<E>,
  isMissing = isAbsent
) =>
  Effect.map(
    endpoints.change(endpointIdOf(name), (before, { nowMs }) => {
      if (before === undefined || before.name !== name || isMissing(before)) return kept(false)
      return Result.map(decide(before, { at: isoTime(nowMs), by }, nowMs), ({ record, same }) =>
        same ? { answer: true } : { answer: true, next: record }
      )
    }),
    ({ answer, value, revision }) => (answer && value !== undefined ? { record: value, revision } : undefined)
  )

const isAbsent = ({ removed }: EndpointRecord) => removed !== null

const write = Effect.fn("WebhookEndpoints.write")(function* <E>(
  deps: Dependencies,
  request: Request,
  decide: Deciding<E>
) {
  const written = yield* decideAndStore(deps, request, decide)
  if (written !== undefined) return written
  const { name } = request
  yield* refuseConfigured(deps, endpointIdOf(name), name)
  return yield* new NoSuchEndpoint({ name })
})

const remove = Effect.fn("WebhookEndpoints.remove")(function* (deps: Dependencies, request: Request) {
  const { name } = request
  const decide = (record: EndpointRecord, act: Act) => decideRemoval(record, { ...guardOf(request), act })
  // Also for one already removed: its removal may not have been acted on.
  const removed = yield* decideAndStore(deps, request, decide, () => false)
  if (removed !== undefined) {
    yield* actedOn(deps)(removed)
    return true
  }
  yield* refuseConfigured(deps, endpointIdOf(name), name)
  // It can be gone already before a dispatcher has learned of it.
  yield* awaitActedOn(deps.presences, yield* deps.store.lastRevision)
  return false
})

const reseal = ({ store, endpoints, seal }: Dependencies) =>
  Effect.map(
    Stream.runCollect(
      Stream.mapEffect(store.bucket.scan(">"), ({ key, value: { name } }) =>
        Effect.map(
          endpoints.change(key, (before) => {
            const next = before === undefined ? Result.succeed(undefined) : resealed(before, seal)
            if (Result.isFailure(next)) return kept("unreadable" as const)
            return Result.succeed({
              answer: next.success === undefined ? null : ("resealed" as const),
              next: next.success
            })
          }),
          ({ answer }) => ({ answer, name })
        )
      )
    ),
    (all): Resealed => ({
      resealed: all.filter(({ answer }) => answer === "resealed").length,
      unreadable: all.flatMap(({ answer, name }) => (answer === "unreadable" ? [name] : []))
    })
  )

const shown = (record: EndpointRecord, seal: SecretSeal): ShownEndpoint => {
  const read = readSettings(record, seal)
  const credentials = openCredentials(record, seal)
  const own = Result.getOrElse(credentials, () => ({}))
  const until = [...record.secrets, ...record.standardWebhooksSecrets].flatMap(({ notAfterMs }) => notAfterMs ?? [])
  const common = {
    id: endpointIdOf(record.name),
    name: record.name,
    revision: record.revision,
    isEnabled: record.isEnabled,
    isSigned: record.secrets.length > 0,
    hasStandardWebhooks: record.standardWebhooksSecrets.length > 0,
    previousSecretUntilMs: until.length === 0 ? null : Math.max(...until),
    credentialNames: Object.keys(own),
    certificates: certificateFacts(own),
    startsAfter: record.startsAfter,
    created: record.created,
    changed: record.changed
  }
  const faults = Result.isFailure(credentials) ? [{ path: "/Credentials", message: credentials.failure }] : []
  if (Result.isFailure(read)) {
    return { ...common, settings: null, headerNames: [], faults: [...read.failure, ...faults] }
  }
  return { ...common, ...shownSettings(read.success), faults }
}

/** Settings without the values kept for the receiver: those of its headers, and of its URL's query. Pure. */
export const shownSettings = ({ Headers, ...settings }: EndpointSettings) => ({
  settings: { ...settings, Url: shownUrl(settings.Url) },
  headerNames: Object.keys(Headers)
})

// A receiver's own token is often in its query.
const shownUrl = (address: string): string => {
  const [place = "", query] = address.split("?", 2)
  if (query === undefined) return address
  const names = query.split("&").map((part) => `${part.split("=", 1)[0] ?? ""}=***`)
  return `${place}?${names.join("&")}`
}
