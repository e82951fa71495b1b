/** The broker's streams as operators see them: how much lies there, how far each consumer is, who holds a lease. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { BearerToken, described } from "../../http/declaration.ts"
import { pageQuery, pageSizeMax } from "../../pipeline/api/parts.ts"
import { Count, describe, Timestamp } from "../../primitives.ts"
import { listCodes, readCodes, refusals } from "./parts.ts"

/** How many consumers the list shows of each stream. */
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
  trouble: Schema.NullOr(Schema.String),
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

export const streamParams = { stream: Schema.String }

export const ConsumersQuery = Schema.Struct(pageQuery)

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

export const StreamsGroup = HttpApiGroup.make("streams", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listStreams", "/streams", {
      disableCodecs: true,
      success: BrokerStreams,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List streams",
        description:
          "Every stream, bucket and store of the fleet with its size, its limits and its consumers. One that the broker does " +
          "not speak of within two seconds is listed with the reason. An answer may be a second old."
      })
    ),
    HttpApiEndpoint.get("listConsumers", "/streams/:stream/consumers", {
      disableCodecs: true,
      params: streamParams,
      query: ConsumersQuery.fields,
      success: ConsumerPage,
      error: refusals(...listCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List a stream's consumers",
        description: "All of them, by name. DELIVERIES has one for each endpoint."
      })
    ),
    HttpApiEndpoint.get("listLeases", "/leases", {
      disableCodecs: true,
      success: Leases,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List leases",
        description: "Which process does what only one may do: relays, sweeps, keys of settlers."
      })
    )
  )
  .middleware(BearerToken)
