/** What is kept under an id of any kind, as a trace: what it is, and below it what became of it. */
import { Schema } from "effect"
import { Count, describe, Timestamp } from "#base"
import { guarded } from "#base/http"
import { read } from "./parts.ts"

export const traceKinds = [
  "event",
  "delivery",
  "attempt",
  "abandoned",
  "rejected",
  "endpoint",
  "payer",
  "claim",
  "receipt",
  "transaction",
  "finding",
  "act"
] as const
export type TraceKind = (typeof traceKinds)[number]

/** What does not fit is named in the notes. */
export const traceLinesMax = 200

export const TraceLine = Schema.Struct({
  depth: Count.pipe(describe("Under how many others it stands.")),
  kind: Schema.Literals(traceKinds),
  id: Schema.String.pipe(describe("What this API and its commands call it.")),
  at: Schema.NullOr(Timestamp),
  text: Schema.String.pipe(describe("What it is, or what became of it."))
}).annotate({ identifier: "TraceLine" })
export interface TraceLine extends Schema.Schema.Type<typeof TraceLine> {}

export const Trace = Schema.Struct({
  id: Schema.String,
  soughtAs: Schema.Array(Schema.String).pipe(describe("What an id of this form can be.")),
  lines: Schema.Array(TraceLine).check(Schema.isMaxLength(traceLinesMax)),
  notes: Schema.Array(Schema.String).pipe(describe("What was not looked through, and what is not kept."))
}).annotate({ identifier: "Trace" })
export interface Trace extends Schema.Schema.Type<typeof Trace> {}

export const FindGroup = guarded(
  "find",
  read("find", "/find", {
    query: {
      id: Schema.String.check(Schema.isBetweenLength(1, 700)).pipe(
        describe(
          "A number in a list, a delivery, a work item or another thing of events, an endpoint, a payer, a claim, a " +
            "transaction, a finding or a request."
        )
      )
    },
    success: Trace,
    refused: ["not_found"],
    summary: "Find by any id",
    description:
      "What is kept under an id: an event with its deliveries and attempts, a payer with claims, receipts and " +
      "transactions. Its form says what it can be. Logs and ended claims without a receipt are not kept; the newest of " +
      "each stream are looked through, for a few seconds. A 404 says as what it was sought."
  })
)
