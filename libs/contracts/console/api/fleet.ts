/** The fleet as its processes show it now: what `./starling top` shows. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../http/declaration.ts"
import { Count, describe, Timestamp } from "../../primitives.ts"
import { readCodes, refusals } from "./error-codes.ts"

/** Of ten thousand endpoints a frame shows so many. */
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

const frame = {
  at: Timestamp,
  windowSeconds: Schema.Finite.pipe(describe("What rates and latencies are over; 0 before a second reading.")),
  isReady: Schema.Boolean.pipe(describe("Whether every role is up.")),
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
    .pipe(describe(`What is left alone because it fails; at most ${endpointsShownMax}.`)),
  latencies: Schema.Array(FleetLatency)
}

export const FleetFrame = Schema.Struct(frame).annotate({ identifier: "FleetFrame" })
export interface FleetFrame extends Schema.Schema.Type<typeof FleetFrame> {}

/** The same, as the data of a server-sent event. */
const LiveFrame = Schema.Struct(frame)

export const FleetGroup = HttpApiGroup.make("fleet", { topLevel: true })
  .add(
    HttpApiEndpoint.get("getFleet", "/fleet", {
      disableCodecs: true,
      success: FleetFrame,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at the fleet",
        description:
          "Roles with their processes, releases and readiness, backlogs, rates and latencies over the last seconds. While nobody " +
          "else watches, the answer waits a second for a second reading."
      })
    ),
    HttpApiEndpoint.get("streamFleet", "/fleet/live", {
      disableCodecs: true,
      success: HttpApiSchema.StreamSse({ data: LiveFrame }),
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Watch the fleet",
        description:
          "The same as server-sent events, a frame each second; a reader that is slower gets fewer. It ends when the process " +
          "does: connect again. It shares its limit of 64 streams a process with `/events/live`."
      })
    )
  )
  .middleware(BearerToken)
