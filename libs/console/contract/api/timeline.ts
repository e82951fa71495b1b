/** What happened to the fleet, and when. */
import { Schema } from "effect"
import { guarded } from "#base/http"
import { describe, text, Timestamp } from "#base"
import { read, timeQuery } from "./parts.ts"

export const happeningKinds = ["condition", "breaker", "process", "lease", "act"] as const

/** More are not an incident that somebody reads through. */
export const happeningsMax = 500

export const Happening = Schema.Struct({
  id: text(600).pipe(describe("Of what happened: seen by two consoles it is one.")),
  at: Timestamp,
  kind: Schema.Literals(happeningKinds),
  change: Schema.Literals(["begun", "ended", "opened", "closed", "started", "taken", "done"]).pipe(
    describe(
      "A condition has begun or ended, a breaker opened or closed, a process started, a lease been taken, an act been done."
    )
  ),
  what: text(400).pipe(describe("In one sentence.")),
  severity: Schema.NullOr(Schema.Literals(["critical", "warning", "info"])).pipe(
    describe("Of a condition; else null.")
  ),
  by: Schema.NullOr(text(300)).pipe(
    describe("Who did an act: a person, or the token's id; who took a lease. Else null.")
  )
}).annotate({ identifier: "Happening" })
export interface Happening extends Schema.Schema.Type<typeof Happening> {}

export const Timeline = Schema.Struct({
  items: Schema.Array(Happening)
    .check(Schema.isMaxLength(happeningsMax))
    .pipe(describe(`Newest first; at most ${happeningsMax}, of the last 31 days.`))
}).annotate({ identifier: "Timeline" })

export const TimelineGroup = guarded(
  "timeline",
  read("getTimeline", "/timeline", {
    query: {
      ...timeQuery,
      kind: Schema.optionalKey(Schema.Literals(happeningKinds)).pipe(describe("Only these."))
    },
    success: Timeline,
    summary: "List what happened",
    description:
      "Conditions that began and ended, breakers, processes that started with their releases, leases that were taken, and what " +
      "operators did, in one list. Breakers and leases are missed while no console looks. With the broker away it has what this process knows, without acts."
  })
)
