/** `Webhooks`, the endpoints, and `WebhookDelivery`, the settings that all of them share. */
import { Schema } from "effect"
import { endpointIdOf } from "../webhooks.ts"
import { Cidr, EnvironmentName, WebUrl, optional, required, section, span, whole, withDefault } from "./keys.ts"

/** One endpoint. Seconds may be fractions. */
export const EndpointEntry = Schema.Struct({
  Name: required(
    Schema.String.check(Schema.isBetweenLength(1, 100)),
    "Its label in logs and metrics; unique, and its id is made of it."
  ),
  Url: required(WebUrl, "Where events are posted, by https or http."),
  SecretEnvVar: optional(
    EnvironmentName,
    "The variable that holds the key of `X-Service-Signature`; without it bodies are not signed."
  ),
  EventFilter: withDefault(
    Schema.Array(Schema.String.check(Schema.isBetweenLength(1, 100))),
    [],
    "Events to deliver, by name or pattern (`iteration.*`). Empty: all but the eight progress events."
  ),
  MaxAttempts: withDefault(whole(1, 20), 3, "Attempts before a delivery is given up."),
  InitialBackoffSeconds: withDefault(span(0.01, 3_600), 1, "Before the first retry; doubles with every attempt."),
  TimeoutSeconds: withDefault(
    span(0.05, 300),
    10,
    "For a whole attempt, from the connection to the end of the answer."
  ),
  Concurrency: withDefault(whole(1, 1_024), 32, "Deliveries on the way to it at once, over all processes."),
  BacklogMax: withDefault(
    whole(1, 10_000_000),
    100_000,
    "Deliveries that may wait for it; beyond, it is parked and caught up later from EVENTS."
  ),
  Jitter: withDefault(span(0, 1), 0, "Share of a wait that chance adds at most. 0: waits are exact."),
  CircuitBreaker: withDefault(
    Schema.Boolean,
    true,
    "Whether it is left in peace for a while after 20 failures in a row over 30 s; that costs no attempt."
  ),
  StandardWebhooksSecretEnvVar: optional(
    EnvironmentName,
    "The variable that holds the key of Standard Webhooks, whose headers are sent beside ours then."
  )
})
export interface EndpointEntry extends Schema.Schema.Type<typeof EndpointEntry> {}

/** More endpoints than this need a second deployment. */
const endpointsMax = 10_000

/** The names and ids that more than one endpoint has. */
export const repeatedEndpoints = (entries: ReadonlyArray<Pick<EndpointEntry, "Name">>): ReadonlyArray<string> => {
  const seen = new Map<string, string>()
  return entries.flatMap(({ Name }) => {
    const id = endpointIdOf(Name)
    const other = seen.get(id)
    if (other === Name) return [`the Name ${JSON.stringify(Name)} is used twice`]
    if (other !== undefined) return [`the Names ${JSON.stringify(other)} and ${JSON.stringify(Name)} have the same id`]
    seen.set(id, Name)
    return []
  })
}

export const Webhooks = withDefault(
  Schema.Array(EndpointEntry).check(Schema.isMaxLength(endpointsMax), Schema.makeFilter(repeatedEndpoints)),
  [],
  "The endpoints. None: events are only kept."
)

export const WebhookDelivery = section({
  AllowCidrs: withDefault(
    Schema.Array(Cidr),
    [],
    "Networks that webhooks may be sent to although they are not public."
  ),
  PartitionsAbove: withDefault(
    whole(0, 1_000),
    200,
    "Above so many endpoints they share consumers by partition, for each consumer costs the broker."
  ),
  ParkedMaxDays: withDefault(
    whole(1, 34),
    30,
    "How long a parked endpoint can be given all it missed; EVENTS keeps longer than the largest value."
  ),
  ArchiveAfterHours: withDefault(
    span(0.001, 8_760),
    24,
    "An endpoint absent from the configuration for so long is given up."
  ),
  RetryAfterMaxSeconds: withDefault(span(0, 86_400), 60, "The longest wait a receiver may ask for.")
})
