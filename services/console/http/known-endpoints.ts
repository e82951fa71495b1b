/**
 * The endpoints that there are: those of the configuration file, which win by name and are changed there alone, and
 * those made at run time.
 */
import { Effect } from "effect"
import { type EndpointEntry, endpointIdOf, type Fault } from "#contracts"
import type { EndpointView } from "#contracts/console"
import type { BusError } from "#bus"
import { conflict, HttpCall, notFound, serviceUnavailable, validationFailed, type WireError } from "#http"
import { Configuration } from "#runtime"
import {
  type EndpointFailure,
  EndpointIsConfigured,
  type ShownEndpoint,
  shownSettings,
  WebhookEndpoints
} from "#webhooks"
import { refusing } from "./requests.ts"

export type KnownEndpoint = Omit<EndpointView, "paused" | "breakerOpenUntilMs" | "backlog" | "parkedFrom">

/** Every endpoint, by name. */
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

/** The name that the path has. */
export const nameOfCall = Effect.map(HttpCall, ({ params }) => params["name"] ?? "")

/** The endpoint that the path names. */
export const endpointOfCall = Effect.gen(function* () {
  const name = yield* nameOfCall
  const entry = yield* fileEntry(name)
  if (entry !== undefined) return ofConfiguration(entry)
  return ofRunTime(yield* answering((yield* WebhookEndpoints).get(name)))
})

/** The name that the path has, of an endpoint that is there and can be changed. */
export const foundToChange = Effect.gen(function* () {
  const name = yield* nameOfCall
  yield* refuseConfigured(name)
  yield* answering((yield* WebhookEndpoints).get(name))
  return name
})

/** Refuses what is changed in the file. This process knows it before a dispatcher has told the fleet of it. */
export const refuseConfigured = Effect.fnUntraced(function* (name: unknown) {
  const entry = yield* fileEntry(name)
  if (entry !== undefined) return yield* conflict(new EndpointIsConfigured({ name: entry.Name }).message)
})

/** Refuses an endpoint that there is not, or not any more. */
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
  startsAfter: null,
  created: null,
  changed: null
})

// A dispatcher puts deliveries away, and follows a change, within moments.
const soonSeconds = 1

/** Turns the refusal of a change into the answer's. */
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

const fieldsOf = (faults: ReadonlyArray<Fault>) =>
  Object.fromEntries(faults.map(({ path, message }) => [path.slice(1).replaceAll("/", ".") || "settings", message]))
