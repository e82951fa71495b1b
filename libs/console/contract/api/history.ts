/** How often each thing of the fleet was used, how well and how fast, over the last hour, day or month. */
import { Schema } from "effect"
import { guarded } from "#base/http"
import { Count, describe, Timestamp } from "#base"
import { NameFilter, read } from "./parts.ts"

export const thingKinds = ["role", "endpoint", "provider", "chain", "engine"] as const
export type ThingKind = (typeof thingKinds)[number]

export const historyRanges = ["hour", "day", "month"] as const
export type HistoryRange = (typeof historyRanges)[number]

/** Beyond this a fleet has a monitoring system; 500 are 17 MB in the console's memory. */
export const thingsKeptMax = 500
/** The most things of an answer; their points of a month are a megabyte. */
export const thingsShownMax = 12

const share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Latency = Schema.NullOr(Schema.Finite)

const figures = {
  perSecond: Schema.Finite.pipe(describe("Calls a second: attempts, jobs or runs, by what the thing does.")),
  success: Schema.NullOr(share).pipe(
    describe("The share of the calls that did not fail by the thing's fault; null without any.")
  ),
  p50Ms: Latency.pipe(describe("Half of them were as quick; null where nothing was timed.")),
  p95Ms: Latency.pipe(describe("Nineteen of twenty were."))
}

const HistoryPoint = Schema.Struct({ at: Timestamp.pipe(describe("When its span began.")), ...figures }).annotate({
  identifier: "HistoryPoint"
})
export interface HistoryPoint extends Schema.Schema.Type<typeof HistoryPoint> {}

const ThingHistory = Schema.Struct({
  kind: Schema.Literals(thingKinds),
  id: Schema.String,
  calls: Count.pipe(describe("Of the whole range.")),
  points: Schema.Array(HistoryPoint)
    .check(Schema.isMaxLength(721))
    .pipe(describe("Oldest first. A span in which no console looked, or no process of the role answered, is left out."))
}).annotate({ identifier: "ThingHistory" })
export interface ThingHistory extends Schema.Schema.Type<typeof ThingHistory> {}

export const History = Schema.Struct({
  from: Timestamp,
  to: Timestamp,
  spanSeconds: Count.pipe(
    describe("How long a point's span is: a minute of an hour, five of a day, an hour of a month.")
  ),
  count: Count.pipe(describe("How many things of this kind are kept.")),
  leftOut: Count.pipe(
    describe(`Things of all kinds that were used and are not kept, because ${thingsKeptMax} were used before them.`)
  ),
  items: Schema.Array(ThingHistory)
    .check(Schema.isMaxLength(thingsShownMax))
    .pipe(describe("The one that was named; else those with the most calls, most first."))
}).annotate({ identifier: "History" })
export interface History extends Schema.Schema.Type<typeof History> {}

export const HistoryGroup = guarded(
  "history",
  read("getHistory", "/history", {
    query: {
      kind: Schema.Literals(thingKinds).pipe(describe("`engine` is what speaks a voice, `chain` its nodes.")),
      id: Schema.optionalKey(NameFilter).pipe(
        describe("As `webhook-dispatcher`, or an endpoint's name. Without it the busiest.")
      ),
      range: Schema.Literals(historyRanges)
    },
    success: History,
    summary: "Look back",
    description:
      "Rates, the share that succeeded, and latencies, counted from the metrics of all processes: by the minute for a day, " +
      "by the hour for thirty days. A point of more than a minute has the means of its minutes' latencies, weighted by " +
      "their calls. The newest point may still grow. It needs no broker, but what was counted before this process started does."
  })
)
