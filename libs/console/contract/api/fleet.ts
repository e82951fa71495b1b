/**
 * The fleet as operators see it: its live processes, the broker's streams, the speech instances, and the settings of
 * the console's own process. Secrets are never shown.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { guarded } from "#base/http"
import { Count, describe, pageQuery, pageSizeMax, settingSourceNames, Timestamp } from "#base"
import { Conditions } from "./conditions.ts"
import { NameFilter, read } from "./parts.ts"
import { FigureVoice, recentFigures } from "#speech/contract"

/** The most endpoints in a frame, out of up to ten thousand. */
export const endpointsShownMax = 100

const Rate = Schema.NullOr(Schema.Finite)

const FleetRole = Schema.Struct({
  role: Schema.String.pipe(describe("`?` where a process does not answer that was never seen.")),
  at: Schema.String.pipe(describe("Where its process shows metrics and health.")),
  state: Schema.Literals(["up", "not ready", "down"]),
  why: Schema.String.pipe(describe("Why it is not up; empty of one that is.")),
  version: Schema.NullOr(Schema.String).pipe(describe("The release that it runs.")),
  consumedPerSecond: Rate,
  publishedPerSecond: Rate,
  residentMb: Rate.pipe(describe("Of the process, which other roles may share; so are the next two.")),
  cores: Rate,
  loopLagMs: Rate
}).annotate({ identifier: "FleetRole" })

const FleetEndpoint = Schema.Struct({
  endpoint: Schema.String,
  breaker: Schema.Literals(["closed", "half-open", "open", "paused"]),
  backlog: Schema.Finite,
  inFlight: Schema.Finite,
  deliveredPerSecond: Rate,
  failedPerSecond: Rate
}).annotate({ identifier: "FleetEndpoint" })

const FleetLatency = Schema.Struct({ what: Schema.String, perSecond: Rate, p50Ms: Rate, p99Ms: Rate }).annotate({
  identifier: "FleetLatency"
})

const GatewayCaller = Schema.Struct({
  client: Schema.String.pipe(describe("By its User-Agent; `other` where it is not known.")),
  answered: Schema.Finite,
  quoted: Schema.Finite,
  refused: Schema.Finite,
  failed: Schema.Finite
}).annotate({ identifier: "GatewayCaller" })

const GatewayKey = Schema.Struct({
  code: Schema.NullOr(Schema.String).pipe(
    describe("The code of the refusal; null where the provider was not given the key and the call went on.")
  ),
  key: Schema.String.pipe(
    describe("Of the request; `none` where a refusal names none, `other` where it is not known.")
  ),
  calls: Schema.Finite
}).annotate({ identifier: "GatewayKey" })

const frame = {
  at: Timestamp,
  windowSeconds: Schema.Finite.pipe(describe("What rates and latencies are over; 0 before a second reading.")),
  isReady: Schema.Boolean.pipe(describe("Whether every role is up.")),
  conditions: Conditions.pipe(describe("What is wrong, as `GET /conditions` has it.")),
  processCount: Count,
  processesLeftOut: Count.pipe(describe("More than 64 are work for a monitoring system.")),
  roles: Schema.Array(FleetRole),
  addresses: Schema.Record(Schema.String, Schema.String).pipe(
    describe("The addresses of the APIs in the console's own process, by role.")
  ),
  totals: Schema.Record(Schema.String, Schema.Record(Schema.String, Rate)),
  endpointCount: Count,
  endpoints: Schema.Array(FleetEndpoint)
    .check(Schema.isMaxLength(endpointsShownMax))
    .pipe(describe(`The ${endpointsShownMax} with the largest backlog.`)),
  breakersOpen: Schema.Array(Schema.String)
    .check(Schema.isMaxLength(endpointsShownMax))
    .pipe(describe(`Receivers, providers and nodes whose circuit is open; at most ${endpointsShownMax}.`)),
  latencies: Schema.Array(FleetLatency),
  callers: Schema.Array(GatewayCaller).pipe(
    describe("The programs that call the model gateway, since its processes began; the most calls first.")
  ),
  keys: Schema.Array(GatewayKey).pipe(
    describe("The keys for which most calls were refused, or that were left out, since its processes began.")
  )
}

export const FleetFrame = Schema.Struct(frame).annotate({ identifier: "FleetFrame" })
export interface FleetFrame extends Schema.Schema.Type<typeof FleetFrame> {}

/** The same, as the data of a server-sent event. */
const LiveFrame = Schema.Struct(frame)

export const FleetGroup = guarded(
  "fleet",
  read("getFleet", "/fleet", {
    success: FleetFrame,
    summary: "Look at the fleet",
    description:
      "Roles with their processes, releases and readiness, backlogs, rates and latencies over the last seconds. While nobody " +
      "else watches, the answer waits a second for a second reading."
  }),
  read("streamFleet", "/fleet/live", {
    success: HttpApiSchema.StreamSse({ data: LiveFrame }),
    summary: "Watch the fleet",
    description:
      "The same as server-sent events, a frame each second; a reader that is slower gets fewer. It ends when the process " +
      "does: connect again. It shares its limit of 64 streams a process with `/events/live`."
  })
)

const SpeechProcess = Schema.Struct({
  instance: Schema.String.pipe(describe("The process of speech-api.")),
  startedAt: Timestamp,
  sessions: Count.pipe(describe("Answers being spoken now.")),
  sessionsMax: Count,
  ...recentFigures
}).annotate({ identifier: "SpeechProcess" })

const SpeechVoice = Schema.Struct({
  ...FigureVoice.fields,
  hasPreview: Schema.Boolean.pipe(describe("Whether a running speech-api speaks it: `POST /v1/audio/speech` there."))
}).annotate({ identifier: "SpeechVoice" })

export const SpeechView = Schema.Struct({
  sessions: Count.pipe(describe("Answers being spoken now, by all processes.")),
  processes: Schema.Array(SpeechProcess).pipe(
    describe("Those that told of themselves in the last fifteen seconds; the figures are of the last five minutes.")
  ),
  voices: Schema.Array(SpeechVoice).pipe(
    describe("The voices that everybody has. Cloned ones are their workspaces' own.")
  )
}).annotate({ identifier: "Speech" })
export interface SpeechView extends Schema.Schema.Type<typeof SpeechView> {}

export const SpeechGroup = guarded(
  "speech",
  read("getSpeech", "/speech", {
    success: SpeechView,
    summary: "Look at speech",
    description:
      "Who speaks now, how soon callers hear the first byte, how often sound ran out, and which voices there are."
  })
)

const SettingView = Schema.Struct({
  key: Schema.String.pipe(describe("As `Bus.Url`, or `Payments.Networks[0].PayTo`.")),
  variable: Schema.NullOr(Schema.String).pipe(describe("The environment variable that stands over the file.")),
  value: Schema.Unknown.pipe(describe("Null when it is not set, and when all of it is hidden.")),
  isSet: Schema.Boolean,
  isHidden: Schema.Boolean.pipe(
    describe("A part of it, or all, is not shown: it is a secret, or a URL whose path may hold one.")
  ),
  source: Schema.Literals(settingSourceNames).pipe(
    describe("`launcher`: what started the process chose it, as `./starling up` does.")
  ),
  default: Schema.Unknown.pipe(describe("Null without one.")),
  why: Schema.String.pipe(describe("What the key is for."))
}).annotate({ identifier: "Setting" })

const SettingPage = Schema.Struct({
  file: Schema.NullOr(Schema.String).pipe(describe("The file that was read; null without one.")),
  items: Schema.Array(SettingView).check(Schema.isMaxLength(pageSizeMax)).pipe(describe("Settings, by section.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page."))
}).annotate({ identifier: "SettingPage" })

export const SettingsGroup = guarded(
  "settings",
  read("listSettings", "/settings", {
    query: {
      ...pageQuery,
      section: Schema.optionalKey(NameFilter).pipe(describe("Only those of this section, such as `Bus`."))
    },
    success: SettingPage,
    summary: "List settings",
    description:
      "Every key of the configuration, with its value in the console's process, where the value comes from, and what it " +
      "is for. All roles read the same file; a variable that only another role's process has is not seen here. Webhook " +
      "endpoints are under `/endpoints`."
  })
)

/** The most consumers listed per stream. */
export const consumersShownMax = 20

export const StreamConsumer = Schema.Struct({
  name: Schema.String,
  isDurable: Schema.Boolean.pipe(
    describe("One that is not ends with the process that reads, and where it was is kept elsewhere.")
  ),
  subjects: Schema.Array(Schema.String).pipe(describe("What it takes of the stream; empty for all.")),
  pending: Count.pipe(describe("Messages that it did not get yet: its lag.")),
  unacked: Count.pipe(describe("Messages that it got and did not acknowledge yet.")),
  redelivered: Count.pipe(describe("Those of the unacknowledged that it got more than once.")),
  waiting: Count.pipe(describe("Its requests that wait for a message: with 0 and a lag nobody reads.")),
  isPaused: Schema.Boolean,
  lastDeliveredAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "StreamConsumer" })
export interface StreamConsumer extends Schema.Schema.Type<typeof StreamConsumer> {}

const StreamState = Schema.Struct({
  messages: Count,
  bytes: Count,
  bytesMax: Schema.NullOr(Count).pipe(describe("Null without a limit.")),
  ageSecondsMax: Schema.NullOr(Schema.Finite).pipe(describe("How long a message stays; null for ever.")),
  firstAt: Schema.NullOr(Timestamp).pipe(describe("When its oldest message was stored; null when it is empty.")),
  lastAt: Schema.NullOr(Timestamp),
  leader: Schema.NullOr(Schema.String).pipe(describe("The server that leads it; null where there is one alone.")),
  replicas: Count,
  replicasBehind: Schema.Array(Schema.String).pipe(describe("Servers that are away, or whose copy is behind.")),
  consumerCount: Count
}).annotate({ identifier: "StreamState" })

export const BrokerStream = Schema.Struct({
  name: Schema.String.pipe(describe("As in the table of the bus.")),
  kind: Schema.Literals(["stream", "bucket", "store"]),
  purpose: Schema.String,
  atLimit: Schema.Literals(["refuses", "evicts"]).pipe(describe("What it does with a message that has no room.")),
  state: Schema.NullOr(StreamState).pipe(describe("Null when the broker does not say; `trouble` has the reason.")),
  trouble: Schema.NullOr(Schema.String).pipe(
    describe("Why the broker does not say, or that what lay in it was lost and it was made again, empty.")
  ),
  consumers: Schema.Array(StreamConsumer)
    .check(Schema.isMaxLength(consumersShownMax))
    .pipe(
      describe(
        `Of a stream's first 256 consumers by name the ${consumersShownMax} with the most to do, the busiest first. ` +
          "Empty of a bucket and of a store."
      )
    )
}).annotate({ identifier: "BrokerStream" })
export interface BrokerStream extends Schema.Schema.Type<typeof BrokerStream> {}

export const BrokerStreams = Schema.Struct({
  items: Schema.Array(BrokerStream).pipe(describe("Streams, buckets and stores, each in the order of the table."))
}).annotate({ identifier: "BrokerStreams" })

export const ConsumerPage = Schema.Struct({
  items: Schema.Array(StreamConsumer).check(Schema.isMaxLength(pageSizeMax)).pipe(describe("Consumers by name.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page."))
}).annotate({ identifier: "ConsumerPage" })

export const Lease = Schema.Struct({
  key: Schema.String.pipe(describe("What only one process may do.")),
  holder: Schema.String.pipe(describe("The process that does it.")),
  until: Timestamp.pipe(describe("When it is free unless it is renewed before, by the broker's clock."))
}).annotate({ identifier: "Lease" })

export const Leases = Schema.Struct({
  items: Schema.Array(Lease).check(Schema.isMaxLength(10_000)).pipe(describe("Leases by key."))
}).annotate({ identifier: "Leases" })

export const StreamsGroup = guarded(
  "streams",
  read("listStreams", "/streams", {
    success: BrokerStreams,
    summary: "List streams",
    description:
      "Every stream, bucket and store of the fleet with its size, its limits and its consumers. One that the broker does " +
      "not speak of within two seconds is listed with the reason. An answer may be a second old."
  }),
  read("listConsumers", "/streams/:stream/consumers", {
    query: pageQuery,
    success: ConsumerPage,
    summary: "List a stream's consumers",
    description: "All of them, by name. DELIVERIES has one for each endpoint."
  }),
  read("listLeases", "/leases", {
    success: Leases,
    summary: "List leases",
    description: "Which process does what only one may do: relays, sweeps, keys of settlers."
  })
)
