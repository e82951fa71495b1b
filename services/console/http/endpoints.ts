/** Webhook endpoints over HTTP. */
import { Effect, Option, Result } from "effect"
import { type BusError, Consumers, StreamReader } from "#bus"
import {
  type AuditAction,
  type EndpointEntry,
  endpointIdOf,
  type Fault,
  findEvent,
  isoTime,
  pageSizeDefault,
  pageSizeMax,
  subjects
} from "#contracts"
import { EndpointsGroup, type EndpointView } from "#contracts/console"
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
import { Configuration } from "#runtime"
import {
  dueDeliveryCodec,
  type EndpointFailure,
  EndpointIsConfigured,
  EndpointStates,
  fanOutRecordCodec,
  overlapMsDefault,
  sendTest,
  type ShownEndpoint,
  WebhookEndpoints
} from "#webhooks"
import { AuditLog } from "../AuditLog.ts"
import { linesOf } from "../deliveries/lines.ts"
import { apiOptions, refusing } from "./requests.ts"

type Failed = EndpointFailure | BusError | WireError

// A dispatcher puts deliveries away, and follows a change, within moments.
const soonSeconds = 1

/** Turns the refusal of a change into the answer's. */
const answering = <A, R>(work: Effect.Effect<A, Failed, R>): Effect.Effect<A, WireError, R> =>
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

const fieldsOf = (faults: ReadonlyArray<Fault>) =>
  Object.fromEntries(faults.map(({ path, message }) => [path.slice(1).replaceAll("/", ".") || "settings", message]))

const nameOf = Effect.map(HttpCall, ({ params }) => params["name"] ?? "")

const written = Effect.fnUntraced(function* (action: AuditAction, target: string, reason: string) {
  yield* (yield* AuditLog).write({ action, target, reason })
  return { by: (yield* Caller).tokenId }
})

type Known = Omit<EndpointView, "paused" | "breakerOpenUntilMs" | "backlog" | "parkedFrom">

/** What is shown of an address: a receiver's own token often stands in its query. Pure. */
export const shownUrl = (address: string): string => {
  const [place = "", query] = address.split("?", 2)
  if (query === undefined) return address
  const names = query.split("&").map((part) => `${part.split("=", 1)[0] ?? ""}=***`)
  return `${place}?${names.join("&")}`
}

const ofConfiguration = ({
  SecretEnvVar,
  StandardWebhooksSecretEnvVar,
  Headers,
  ...settings
}: EndpointEntry): Known => ({
  name: settings.Name,
  id: endpointIdOf(settings.Name),
  source: "configuration",
  revision: null,
  isEnabled: true,
  settings: { ...settings, Url: shownUrl(settings.Url) },
  headerNames: Object.keys(Headers),
  faults: [],
  isSigned: SecretEnvVar !== undefined,
  hasStandardWebhooks: StandardWebhooksSecretEnvVar !== undefined,
  previousSecretUntilMs: null,
  startsAfter: null,
  created: null,
  changed: null
})

const ofRunTime = (shown: ShownEndpoint): Known => ({
  ...shown,
  source: "run-time",
  settings: shown.settings === null ? null : { ...shown.settings, Url: shownUrl(shown.settings.Url) }
})

/** Refuses an endpoint that there is not, or not any more. */
export const refuseUnknown = Effect.fnUntraced(function* (name: string, refusal: () => WireError) {
  const { Webhooks } = yield* Configuration
  if (Webhooks.some(({ Name }) => Name === name)) return
  yield* refusing(Effect.catchTag((yield* WebhookEndpoints).get(name), "NoSuchEndpoint", () => Effect.fail(refusal())))
})

/** Every endpoint, by name; those of the configuration win. */
const known = Effect.gen(function* () {
  const { Webhooks } = yield* Configuration
  const made = yield* refusing((yield* WebhookEndpoints).list)
  const byName = new Map(made.map((shown) => [shown.name, ofRunTime(shown)]))
  for (const entry of Webhooks) byName.set(entry.Name, ofConfiguration(entry))
  return byName
})

/** The ids of all endpoints. */
export const endpointIds = Effect.map(known, (byName) => new Set([...byName.values()].map(({ id }) => id)))

const one = Effect.gen(function* () {
  const name = yield* nameOf
  const { Webhooks } = yield* Configuration
  const entry = Webhooks.find(({ Name }) => Name === name)
  if (entry !== undefined) return ofConfiguration(entry)
  return ofRunTime(yield* answering((yield* WebhookEndpoints).get(name)))
})

const withState = Effect.fnUntraced(function* (endpoints: ReadonlyArray<Known>) {
  const states = yield* EndpointStates
  const reader = yield* StreamReader
  const [only] = endpoints
  const filter =
    endpoints.length === 1 && only !== undefined ? subjects.deliveriesDueOf(only.id) : subjects.deliveriesDueAll
  const counts = yield* refusing(reader.countBySubject("DELIVERIES", filter))
  const backlogs = new Map<string, number>()
  for (const [subject, count] of Object.entries(counts)) {
    const id = subject.slice(subject.lastIndexOf(".") + 1)
    backlogs.set(id, (backlogs.get(id) ?? 0) + count)
  }
  const parkedFrom = yield* parkedIn(reader)
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

/** The event that each endpoint waits for, where it fell behind the fan-out; a new endpoint may be before it. */
const parkedIn = Effect.fnUntraced(function* (reader: StreamReader["Service"]) {
  const stored = yield* refusing(reader.last("DELIVERIES", subjects.deliveriesCursor))
  const decoded = Option.flatMap(stored, (message) => Result.getSuccess(fanOutRecordCodec.decode(message)))
  if (Option.isNone(decoded)) return () => null
  const { position, next } = decoded.value.cursor
  return (id: string) => {
    const first = next[id]
    return first !== undefined && first <= position ? first : null
  }
})

/** What is asked of the broker for one endpoint alone. */
const whole = Effect.fnUntraced(function* (endpoint: Known) {
  const reader = yield* StreamReader
  const consumers = yield* Consumers
  const view = yield* viewed(endpoint)
  const oldest = yield* refusing(reader.next("DELIVERIES", 1, subjects.deliveriesDueOf(endpoint.id)))
  const delivered = yield* refusing(
    reader.newest("ATTEMPTS", {
      before: Number.MAX_SAFE_INTEGER,
      subject: subjects.attempts(endpoint.id, "delivered"),
      messagesMax: 1
    })
  )
  const inFlight = yield* consumers.backlog("DELIVERIES", `endpoint-${endpoint.id}`).pipe(
    Effect.map(({ unacked }): number | null => unacked),
    Effect.catchTag("BusNotFound", () => Effect.succeed(null)),
    refusing
  )
  const due = Option.flatMap(oldest, (message) => Result.getSuccess(dueDeliveryCodec.decode(message)))
  const answer: EndpointView = {
    ...view,
    inFlight,
    oldestDueAt: Option.getOrNull(Option.map(due, ({ delivery }) => isoTime(delivery.dueAt))),
    lastDeliveredAt: delivered.flatMap(linesOf).at(-1)?.attempt.startedAt ?? null
  }
  return answer
})

const viewed = (endpoint: Known) =>
  Effect.flatMap(withState([endpoint]), ([view]) => (view === undefined ? notFoundHere : Effect.succeed(view)))
const notFoundHere = Effect.fail(notFound("there is no such endpoint"))

const viewedMade = <R>(work: Effect.Effect<ShownEndpoint, Failed, R>) =>
  Effect.flatMap(answering(work), (shown) => viewed(ofRunTime(shown)))

const foundToChange = Effect.flatMap(nameOf, (name) => Effect.as(one, name))

/** Enables or disables the endpoint of the call. */
const switched = Effect.fnUntraced(function* <E, R>(
  body: Effect.Effect<{ readonly reason: string; readonly revision?: number | undefined }, E, R>,
  action: AuditAction,
  change: (at: WebhookEndpoints["Service"]) => WebhookEndpoints["Service"]["disable"]
) {
  const { reason, revision } = yield* body
  const name = yield* foundToChange
  const { by } = yield* written(action, name, reason)
  return jsonAnswer(yield* viewedMade(change(yield* WebhookEndpoints)({ name, revision, by })))
})

export const endpointsRoutes = routesOf(
  EndpointsGroup,
  {
    listEndpoints: ({ query }) =>
      Effect.gen(function* () {
        const { limit, cursor } = yield* query
        const count = limit === undefined ? pageSizeDefault : Number(limit)
        if (count < 1 || count > pageSizeMax) {
          return yield* validationFailed({ limit: `must be from 1 to ${pageSizeMax}` })
        }
        const after = cursor === undefined ? "" : Buffer.from(cursor, "base64url").toString("utf8")
        const rest = [...(yield* known).values()]
          .filter(({ name }) => name > after)
          .toSorted((left, right) => (left.name < right.name ? -1 : 1))
        const items = yield* withState(rest.slice(0, count))
        const last = items.at(-1)
        const isWhole = last === undefined || rest.length <= count
        return jsonAnswer({ items, nextCursor: isWhole ? null : Buffer.from(last.name).toString("base64url") })
      }),

    getEndpoint: () => Effect.map(Effect.flatMap(one, whole), (view) => jsonAnswer(view)),

    createEndpoint: ({ body }) =>
      Effect.gen(function* () {
        const { reason, ...creation } = yield* body
        const name = creation.settings["Name"]
        // Before a dispatcher has told the fleet of the file, this process knows it.
        const entry = (yield* Configuration).Webhooks.find(({ Name }) => Name === name)
        if (entry !== undefined) return yield* conflict(new EndpointIsConfigured({ name: entry.Name }).message)
        const { by } = yield* written("endpoint-create", typeof name === "string" ? name : "", reason)
        const view = yield* viewedMade((yield* WebhookEndpoints).create({ ...creation, by }))
        return jsonAnswer(view, { status: 201 })
      }),

    changeEndpoint: ({ body }) =>
      Effect.gen(function* () {
        const { reason, revision, settings: changes } = yield* body
        const name = yield* foundToChange
        const { by } = yield* written("endpoint-change", name, reason)
        return jsonAnswer(yield* viewedMade((yield* WebhookEndpoints).change({ name, revision, changes, by })))
      }),

    rotateEndpoint: ({ body }) =>
      Effect.gen(function* () {
        const { reason, overlapSeconds, ...secrets } = yield* body
        const name = yield* foundToChange
        const { by } = yield* written("endpoint-rotate", name, reason)
        const overlapMs = overlapSeconds === undefined ? overlapMsDefault : overlapSeconds * 1_000
        return jsonAnswer(yield* viewedMade((yield* WebhookEndpoints).rotate({ ...secrets, name, overlapMs, by })))
      }),

    removeEndpoint: ({ body }) =>
      Effect.gen(function* () {
        const { reason, revision } = yield* body
        const name = yield* nameOf
        const at = yield* WebhookEndpoints
        // Whoever lost the answer asks again while it leaves: that is no second act, and waits as the first one did.
        const isThere = yield* answering(
          at.get(name).pipe(
            Effect.as(true),
            Effect.catchTag("NoSuchEndpoint", () => Effect.succeed(false))
          )
        )
        const { by } = isThere ? yield* written("endpoint-remove", name, reason) : { by: (yield* Caller).tokenId }
        return (yield* answering(at.remove({ name, revision, by }))) ? emptyAnswer() : yield* notFoundHere
      }),

    enableEndpoint: ({ body }) => switched(body, "endpoint-enable", (at) => at.enable),

    disableEndpoint: ({ body }) => switched(body, "endpoint-disable", (at) => at.disable),

    pauseEndpoint: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        const endpoint = yield* one
        const { by } = yield* written("endpoint-pause", endpoint.name, reason)
        yield* refusing((yield* EndpointStates).pause(endpoint.id, endpoint.name, { by, reason }))
        return jsonAnswer(yield* viewed(endpoint))
      }),

    resumeEndpoint: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        const endpoint = yield* one
        yield* written("endpoint-resume", endpoint.name, reason)
        yield* refusing((yield* EndpointStates).resume(endpoint.id, endpoint.name))
        return jsonAnswer(yield* viewed(endpoint))
      }),

    testEndpoint: ({ body }) =>
      Effect.gen(function* () {
        const { reason, event = testEventDefault } = yield* body
        if (findEvent(event) === undefined) return yield* validationFailed({ event: "is not in the catalogue" })
        const { id, name } = yield* one
        yield* written("endpoint-test", name, reason)
        return jsonAnswer({ deliveryId: yield* refusing(sendTest(id, event)) })
      })
  },
  apiOptions
)

const testEventDefault = "work_item.merged"
