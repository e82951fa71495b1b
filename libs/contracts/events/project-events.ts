/** Events of budgets, disks, sandboxes and of a project's pull requests. */
import { Schema } from "effect"
import { Holds } from "../holds.ts"
import { Count, Timestamp, Usd } from "../primitives.ts"
import { fields, fleetEvent, projectEvent } from "./declaration.ts"

const spend = fields({
  projectId: Schema.String,
  currentSpendUsd: Usd,
  budgetUsd: Usd,
  pct: Schema.Finite,
  thresholdPct: Schema.Int
})

const leak = {
  name: Schema.String.check(Schema.isPattern(/^service-/u)),
  ageMinutes: Schema.Finite,
  diskMb: Schema.NullOr(Schema.Finite),
  reason: Schema.String
}

// All that holds it from then on. Since 1.2.
const whatHolds = Schema.optionalKey(Holds)

// Whose item was deferred is told when there is one.
const maybeItem = { workItem: "either", project: "either" } as const

export const projectEvents = [
  fleetEvent("budget.deferred", "a project's budget cap put an item off", {
    ...maybeItem,
    details: fields({ reason: Schema.String, suggestedRetryAt: Timestamp })
  }),
  fleetEvent("disk.deferred", "too little free disk put a sandbox launch off", {
    ...maybeItem,
    details: fields({
      mountPath: Schema.String,
      freeBytes: Count,
      thresholdBytes: Count,
      suggestedRetryAt: Timestamp
    })
  }),
  fleetEvent("project.budget_warning", "30-day spend crossed the warning threshold", { details: spend }),
  fleetEvent("project.budget_exceeded", "30-day spend crossed the hard cap and the project's queue is paused", {
    details: spend
  }),
  fleetEvent("project.budget_recovered", "30-day spend is below the warning threshold again", { details: spend }),
  projectEvent(
    "project.queue_paused",
    "a project's queue was paused, by hand or by its budget; each of them is told, also beside the other",
    {
      details: fields({
        projectId: Schema.String,
        reason: Schema.NullOr(Schema.String),
        pausedBy: Schema.NullOr(Schema.String),
        automatic: Schema.Boolean,
        holds: whatHolds
      })
    }
  ),
  projectEvent(
    "project.queue_resumed",
    "a project's queue runs again: neither an operator nor its budget holds it any more",
    {
      details: fields({
        projectId: Schema.String,
        reason: Schema.NullOr(Schema.String),
        resumedBy: Schema.NullOr(Schema.String),
        automatic: Schema.Boolean
      })
    }
  ),
  fleetEvent("sandbox.leak_detected", "a sandbox that nobody tracks was found", { details: fields(leak) }),
  fleetEvent("sandbox.leak_disposed", "a leaked sandbox was disposed of", {
    details: fields({ ...leak, disposedAt: Timestamp })
  }),
  fleetEvent("sandbox.leak_dispose_failed", "a leaked sandbox could not be disposed of", {
    details: fields({ ...leak, error: Schema.String })
  }),
  fleetEvent("sandbox.provisioning_deferred", "the provider put a sandbox launch off", {
    ...maybeItem,
    details: fields({
      provider: Schema.String,
      operation: Schema.String,
      errorClass: Schema.String,
      resumeState: Schema.String,
      suggestedRetryAt: Timestamp
    })
  }),
  projectEvent("upstream.pr_stale_base", "a pull request of ours can no longer be merged because its base moved", {
    workItem: "either",
    details: fields({
      projectId: Schema.String,
      pullRequestNumber: Count,
      pullRequestUrl: Schema.String,
      headBranch: Schema.String,
      headSha: Schema.String,
      baseBranch: Schema.String,
      firstDetectedAt: Timestamp
    })
  })
]
