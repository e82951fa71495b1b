/**
 * Webhook endpoints over HTTP.
 *
 * Endpoints as operators see them: configured and runtime ones, with their state and their backlog.
 */
import { Effect, Option, Result } from "effect"
import { type BusError, Consumers, StreamReader } from "#bus"
import { type AuditAction, isoTime, deliveryStream, subjects } from "#base"
import { type EndpointEntry, endpointIdOf } from "#webhooks/contract"
import {
  type ChangeEndpoint,
  type CreateEndpoint,
  EndpointsGroup,
  type EndpointView,
  type OfRevision,
  type RotateSecrets,
  type TestEndpoint
} from "#console/api"
import {
  Caller,
  conflict,
  emptyAnswer,
  HttpCall,
  jsonAnswer,
  notFound,
  routesOf,
  serviceUnavailable,
  validationFailed,
  type WireError
} from "#http"
import {
  type Asked,
  dueDeliveryCodec,
  type EndpointFailure,
  EndpointIsConfigured,
  EndpointStates,
  overlapMsDefault,
  readDeliveryLanes,
  readFanOutCursor,
  sendTest,
  type ShownEndpoint,
  shownSettings,
  WebhookEndpoints
} from "#webhooks"
import { Configuration } from "#configuration"
import { AuditLog } from "../AuditLog.ts"
import { hasExample } from "./catalogue.ts"
import { tryFilter } from "./filter-trial.ts"
import { apiOptions, cursorText, entryPlaceOf, fieldsOf, type PageRequest, refusing } from "./requests.ts"
import { linesOf } from "../deliveries/lines.ts"

export type KnownEndpoint = Omit<EndpointView, "paused" | "breakerOpenUntilMs" | "backlog" | "parkedFrom">

/** Every endpoint, by name: those of the configuration file, which win, and runtime ones. */
export const knownEndpoints = Effect.gen(function* () {
  const byName = new Map((yield* madeEndpoints).map((shown) => [shown.name, ofRunTime(shown)]))
  for (const entry of yield* fileEntries) byName.set(entry.Name, ofConfiguration(entry))
  return byName
})

/** The ids of all endpoints. */
export const endpointIds = Effect.gen(function* () {
  const made = yield* madeEndpoints
  return new Set([...made.map(({ id }) => id), ...(yield* fileEntries).map(({ Name }) => endpointIdOf(Name))])
})

/** The name in the path. */
export const nameOfCall = Effect.map(HttpCall, ({ params }) => params["name"] ?? "")

/** The endpoint named by the path. */
export const endpointOfCall = Effect.gen(function* () {
  const name = yield* nameOfCall
  const entry = yield* fileEntry(name)
  if (entry !== undefined) return ofConfiguration(entry)
  return ofRunTime(yield* answering((yield* WebhookEndpoints).get(name)))
})

/** The name in the path, of an endpoint that exists and can be changed. */
export const foundToChange = Effect.gen(function* () {
  const name = yield* nameOfCall
  yield* refuseConfigured(name)
  yield* answering((yield* WebhookEndpoints).get(name))
  return name
})

/**
 * Refuses a change to a configured endpoint. This process knows the file before a dispatcher has published it to the
 * fleet.
 */
export const refuseConfigured = Effect.fnUntraced(function* (name: unknown) {
  const entry = yield* fileEntry(name)
  if (entry !== undefined) return yield* conflict(new EndpointIsConfigured({ name: entry.Name }).message)
})

/** Refuses an endpoint that does not exist, or no longer does. */
export const refuseUnknown = Effect.fnUntraced(function* (name: string, refusal: () => WireError) {
  if ((yield* fileEntry(name)) !== undefined) return
  yield* refusing(Effect.catchTag((yield* WebhookEndpoints).get(name), "NoSuchEndpoint", () => Effect.fail(refusal())))
})

const madeEndpoints = Effect.flatMap(WebhookEndpoints, ({ list }) => refusing(list))
const fileEntries = Effect.map(Configuration, ({ Webhooks }) => Webhooks)
const fileEntry = (name: unknown) => Effect.map(fileEntries, (entries) => entries.find(({ Name }) => Name === name))

export const ofRunTime = (shown: ShownEndpoint): KnownEndpoint => ({ ...shown, source: "run-time" })

const ofConfiguration = ({
  SecretEnvVar,
  StandardWebhooksSecretEnvVar,
  TlsCaFile,
  TlsCertificateFile,
  TlsKeyFile,
  OAuthSecretEnvVar,
  OAuthKeyFile,
  ProxyPasswordEnvVar,
  ...settings
}: EndpointEntry): KnownEndpoint => ({
  ...shownSettings(settings),
  name: settings.Name,
  id: endpointIdOf(settings.Name),
  source: "configuration",
  revision: null,
  isEnabled: true,
  faults: [],
  isSigned: SecretEnvVar !== undefined,
  hasStandardWebhooks: StandardWebhooksSecretEnvVar !== undefined,
  previousSecretUntilMs: null,
  credentialNames: Object.entries({
    tlsCa: TlsCaFile,
    tlsCertificate: TlsCertificateFile,
    tlsKey: TlsKeyFile,
    oauthSecret: OAuthSecretEnvVar,
    oauthKey: OAuthKeyFile,
    proxyPassword: ProxyPasswordEnvVar
  }).flatMap(([name, named]) => (named === undefined ? [] : [name])),
  certificates: [],
  startsAfter: null,
  created: null,
  changed: null
})

// A dispatcher archives deliveries, and follows a change, within moments.
const soonSeconds = 1

/** Turns the refusal of a change into the API's. */
export const answering = <A, R>(
  work: Effect.Effect<A, EndpointFailure | BusError | WireError, R>
): Effect.Effect<A, WireError, R> =>
  refusing(
    Effect.catchTags(work, {
      InvalidEndpoint: ({ faults }) => Effect.fail(validationFailed(fieldsOf(faults))),
      NoSuchEndpoint: () => Effect.fail(notFound("there is no such endpoint")),
      EndpointExists: ({ message }) => Effect.fail(conflict(message)),
      EndpointIsConfigured: ({ message }) => Effect.fail(conflict(message)),
      EndpointWasChanged: ({ message }) => Effect.fail(conflict(message)),
      TooManyEndpoints: ({ message }) => Effect.fail(conflict(message)),
      EndpointIsLeaving: ({ message }) => Effect.fail(serviceUnavailable(soonSeconds, message)),
      NotActedOn: ({ message }) => Effect.fail(serviceUnavailable(soonSeconds, message))
    })
  )

/** Endpoints with the state that the bus keeps for them. */
export const endpointViews = Effect.fnUntraced(function* (endpoints: ReadonlyArray<KnownEndpoint>) {
  const states = yield* EndpointStates
  const reader = yield* StreamReader
  const [only] = endpoints
  const lanes = yield* laneNumbers
  const backlogs = new Map<string, number>()
  for (const lane of lanes) {
    const { dueOf, dueAll } = subjects.deliveries(lane)
    const filter = endpoints.length === 1 && only !== undefined ? dueOf(only.id) : dueAll
    const counts = yield* refusing(reader.countBySubject(deliveryStream(lane), filter))
    for (const [subject, count] of Object.entries(counts)) {
      const id = subject.slice(subject.lastIndexOf(".") + 1)
      backlogs.set(id, (backlogs.get(id) ?? 0) + count)
    }
  }
  const parkedFrom = yield* parkedIn(lanes)
  return endpoints.map((endpoint): EndpointView => {
    const state = states.get(endpoint.id)
    return {
      ...endpoint,
      paused: state?.paused ?? null,
      breakerOpenUntilMs: state?.breakerOpenUntilMs ?? null,
      backlog: backlogs.get(endpoint.id) ?? 0,
      parkedFrom: parkedFrom(endpoint.id)
    }
  })
})

/** The lanes that can hold deliveries. */
const laneNumbers = refusing(readDeliveryLanes).pipe(
  Effect.map(({ streams }) => Array.from({ length: streams }, (_, lane) => lane))
)

/** The event that each endpoint waits for, if it fell behind the fan-out; a new endpoint can be ahead of it. */
const parkedIn = Effect.fnUntraced(function* (lanes: ReadonlyArray<number>) {
  const cursors = yield* refusing(Effect.forEach(lanes, readFanOutCursor))
  return (id: string) => {
    const places = cursors.flatMap(Option.toArray).flatMap(({ position, next, left }) => {
      const first = left?.[id] ?? next[id]
      return first !== undefined && first <= position ? [first] : []
    })
    return places.length === 0 ? null : Math.min(...places)
  }
})

/** One endpoint, with facts requested from the broker for it alone. */
export const wholeView = Effect.fnUntraced(function* (endpoint: KnownEndpoint) {
  const reader = yield* StreamReader
  const consumers = yield* Consumers
  const view = yield* endpointView(endpoint)
  const lanes = yield* laneNumbers
  const ofLanes = yield* Effect.forEach(lanes, (lane) =>
    refusing(reader.next(deliveryStream(lane), 1, subjects.deliveries(lane).dueOf(endpoint.id)))
  )
  const delivered = yield* refusing(
    reader.newest("ATTEMPTS", {
      before: Number.MAX_SAFE_INTEGER,
      subject: subjects.attempts(endpoint.id, "delivered"),
      messagesMax: 1
    })
  )
  // The second is an ordered endpoint's.
  const durables = lanes.flatMap((lane) =>
    [`endpoint-${endpoint.id}`, `ordered-${endpoint.id}`].map((name) => [lane, name] as const)
  )
  const unacked = yield* Effect.forEach(durables, ([lane, durable]) =>
    consumers.backlog(deliveryStream(lane), durable).pipe(
      Effect.map((backlog): ReadonlyArray<number> => [backlog.unacked]),
      Effect.catchTag("BusNotFound", () => Effect.succeed([])),
      refusing
    )
  )
  // None if the endpoint has no consumer of its own.
  const inFlight = unacked.flat().length === 0 ? null : unacked.flat().reduce((sum, one) => sum + one, 0)
  const due = ofLanes
    .flatMap(Option.toArray)
    .flatMap((message) => Option.toArray(Result.getSuccess(dueDeliveryCodec.decode(message))))
    .map(({ delivery }) => delivery.dueAt)
  const answer: EndpointView = {
    ...view,
    inFlight,
    oldestDueAt: due.length === 0 ? null : isoTime(Math.min(...due)),
    lastDeliveredAt: delivered.flatMap(linesOf).at(-1)?.attempt.startedAt ?? null
  }
  return answer
})

export const endpointView = (endpoint: KnownEndpoint) =>
  Effect.flatMap(endpointViews([endpoint]), ([view]) =>
    view === undefined ? Effect.fail(notFound("there is no such endpoint")) : Effect.succeed(view)
  )

type At = WebhookEndpoints["Service"]

const anyName = /^.+$/su

const listed = Effect.fnUntraced(function* (query: PageRequest) {
  const { limit, from = "" } = yield* entryPlaceOf(query, anyName)
  const rest = [...(yield* knownEndpoints).values()]
    .filter(({ name }) => name > from)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const items = yield* endpointViews(rest.slice(0, limit))
  const last = items.at(-1)
  const isLastPage = last === undefined || rest.length <= limit
  return jsonAnswer({ items, nextCursor: isLastPage ? null : cursorText(last.name) })
})

const create = Effect.fnUntraced(function* ({ reason, ...creation }: typeof CreateEndpoint.Type) {
  const name = creation.settings["Name"]
  yield* refuseConfigured(name)
  const { by } = yield* written("endpoint-create", typeof name === "string" ? name : "", reason)
  return jsonAnswer(yield* viewOf((at) => at.create({ ...creation, by })), { status: 201 })
})

const change = Effect.fnUntraced(function* ({ reason, revision, settings: changes }: typeof ChangeEndpoint.Type) {
  const name = yield* foundToChange
  const { by } = yield* written("endpoint-change", name, reason)
  return jsonAnswer(yield* viewOf((at) => at.change({ name, revision, changes, by })))
})

const rotate = Effect.fnUntraced(function* ({ reason, overlapSeconds, ...secrets }: typeof RotateSecrets.Type) {
  const name = yield* foundToChange
  const { by } = yield* written("endpoint-rotate", name, reason)
  const overlapMs = overlapSeconds === undefined ? overlapMsDefault : overlapSeconds * 1_000
  return jsonAnswer(yield* viewOf((at) => at.rotate({ ...secrets, name, overlapMs, by })))
})

const reseal = Effect.fnUntraced(function* ({ reason }: Because) {
  yield* written("endpoint-reseal", "", reason)
  return jsonAnswer(yield* refusing((yield* WebhookEndpoints).reseal))
})

const remove = Effect.fnUntraced(function* ({ reason, revision }: typeof OfRevision.Type) {
  const name = yield* nameOfCall
  yield* refuseConfigured(name)
  const at = yield* WebhookEndpoints
  // A caller who lost the answer can ask again while it leaves: that is not a second action, and waits as the first one
  // did.
  const isThere = yield* answering(
    at.get(name).pipe(
      Effect.as(true),
      Effect.catchTag("NoSuchEndpoint", () => Effect.succeed(false))
    )
  )
  const { by } = isThere ? yield* written("endpoint-remove", name, reason) : { by: (yield* Caller).tokenId }
  const wasThere = yield* answering(at.remove({ name, revision, by }))
  return wasThere ? emptyAnswer() : yield* notFound("there is no such endpoint")
})

/** Enables or disables the endpoint of the call. */
const switching = (action: AuditAction, of: (at: At) => At["disable"]) =>
  Effect.fnUntraced(function* ({ reason, revision }: typeof OfRevision.Type) {
    const name = yield* foundToChange
    const { by } = yield* written(action, name, reason)
    return jsonAnswer(yield* viewOf((at) => of(at)({ name, revision, by })))
  })

const pause = Effect.fnUntraced(function* ({ reason }: Because) {
  const endpoint = yield* endpointOfCall
  const { by } = yield* written("endpoint-pause", endpoint.name, reason)
  yield* refusing((yield* EndpointStates).pause(endpoint.id, endpoint.name, { by, reason }))
  return jsonAnswer(yield* endpointView(endpoint))
})

const resume = Effect.fnUntraced(function* ({ reason }: Because) {
  const endpoint = yield* endpointOfCall
  yield* written("endpoint-resume", endpoint.name, reason)
  yield* refusing((yield* EndpointStates).resume(endpoint.id, endpoint.name))
  return jsonAnswer(yield* endpointView(endpoint))
})

/** Why a dispatcher made no delivery. */
export const notSent = ({ _tag }: Exclude<Asked, { readonly _tag: "Stored" }>) => {
  switch (_tag) {
    case "UnknownEndpoint":
      return conflict("its endpoint is gone")
    case "UnknownEvent":
      return conflict("the dispatcher does not know the event")
    case "NotKept":
      return conflict("its event is no longer kept")
  }
}

const testEventDefault = "work_item.merged"

const test = Effect.fnUntraced(function* ({ reason, event = testEventDefault }: typeof TestEndpoint.Type) {
  if (!(yield* hasExample(event)))
    return yield* validationFailed({ event: "is no event of the catalogue with an example" })
  const { id, name } = yield* endpointOfCall
  yield* written("endpoint-test", name, reason)
  const sent = yield* refusing(sendTest(id, event))
  return sent._tag === "Stored" ? jsonAnswer({ deliveryId: sent.deliveryId }) : yield* notSent(sent)
})

interface Because {
  readonly reason: string
}

const written = Effect.fnUntraced(function* (action: AuditAction, target: string, reason: string) {
  yield* (yield* AuditLog).write({ action, target, reason })
  return { by: (yield* Caller).tokenId }
})

/** Makes a change, and shows its result. */
const viewOf = (act: (at: At) => Effect.Effect<ShownEndpoint, EndpointFailure | BusError>) =>
  Effect.flatMap(answering(Effect.flatMap(WebhookEndpoints, act)), (shown) => endpointView(ofRunTime(shown)))

export const endpointsRoutes = routesOf(
  EndpointsGroup,
  {
    listEndpoints: ({ query }) => Effect.flatMap(query, listed),
    getEndpoint: () => Effect.map(Effect.flatMap(endpointOfCall, wholeView), (view) => jsonAnswer(view)),
    createEndpoint: ({ body }) => Effect.flatMap(body, create),
    changeEndpoint: ({ body }) => Effect.flatMap(body, change),
    rotateEndpoint: ({ body }) => Effect.flatMap(body, rotate),
    resealEndpoints: ({ body }) => Effect.flatMap(body, reseal),
    removeEndpoint: ({ body }) => Effect.flatMap(body, remove),
    enableEndpoint: ({ body }) =>
      Effect.flatMap(
        body,
        switching("endpoint-enable", (at) => at.enable)
      ),
    disableEndpoint: ({ body }) =>
      Effect.flatMap(
        body,
        switching("endpoint-disable", (at) => at.disable)
      ),
    pauseEndpoint: ({ body }) => Effect.flatMap(body, pause),
    resumeEndpoint: ({ body }) => Effect.flatMap(body, resume),
    tryFilter: ({ body }) => answering(Effect.flatMap(body, tryFilter)),
    testEndpoint: ({ body }) => Effect.flatMap(body, test)
  },
  apiOptions
)
