/** What is wrong with the fleet: since when, whom it hurts, what causes it, and what to do. */
import { Schema } from "effect"
import { guarded } from "#base/http"
import { Count, describe, Timestamp } from "#base"
import { read } from "./parts.ts"

/** More at once are one outage, and nobody reads them. */
export const conditionsShownMax = 200

const StandingCondition = Schema.Struct({
  id: Schema.String.pipe(describe("Of the condition and what it is about.")),
  name: Schema.String.pipe(describe("Of its alert and its runbook: `WebhookCircuitOpen`.")),
  severity: Schema.Literals(["critical", "warning", "info"]),
  title: Schema.String.pipe(describe("What is wrong, in one sentence.")),
  hurts: Schema.String.pipe(describe("Whom it hurts, and how.")),
  reasons: Schema.Array(Schema.String).pipe(
    describe("What the processes that see it say: their failing checks of `/readyz`. Often none.")
  ),
  since: Timestamp.pipe(describe("When it was first seen.")),
  labels: Schema.Record(Schema.String, Schema.String).pipe(describe("What it is about: `endpoint`, `network`, `pod`.")),
  causedBy: Schema.NullOr(Schema.String).pipe(
    describe("The id of the condition that causes it, which stands before it; null of one that is to be mended itself.")
  ),
  commands: Schema.Array(Schema.String).pipe(describe("What to run, in order.")),
  runbook: Schema.Struct({ means: Schema.String, lookAt: Schema.String, act: Schema.String }).pipe(
    describe("Paragraphs in Markdown.")
  )
}).annotate({ identifier: "StandingCondition" })
export interface StandingCondition extends Schema.Schema.Type<typeof StandingCondition> {}

export const Conditions = Schema.Struct({
  at: Timestamp.pipe(describe("When the fleet was last looked at.")),
  isWhole: Schema.Boolean.pipe(
    describe("False in the first half minute of the console's process, which sees no rates yet.")
  ),
  count: Count.pipe(describe("How many stand, also of those that are not shown.")),
  items: Schema.Array(StandingCondition)
    .check(Schema.isMaxLength(conditionsShownMax))
    .pipe(describe("The worst first, and each cause before what it causes."))
}).annotate({ identifier: "Conditions" })
export interface Conditions extends Schema.Schema.Type<typeof Conditions> {}

export const ConditionsGroup = guarded(
  "conditions",
  read("listConditions", "/conditions", {
    success: Conditions,
    summary: "List what is wrong",
    description:
      "What is wrong with the fleet now, by the last look at all its processes, at most some five seconds ago. A condition is shown " +
      "when it has been seen for ten seconds. It needs no broker, but what was known before this process started does."
  })
)
