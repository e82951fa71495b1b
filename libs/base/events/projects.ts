/** Events of budgets, disks, sandboxes, a project's pull requests, and releases. */
import { Schema } from "effect"
import { Count, Timestamp, Usd } from "../primitives.ts"
import { fields, fleetEvent, projectEvent, releaseEvent } from "./declaration.ts"
import { Holds } from "./entities.ts"

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

// All remaining holds on the queue after the event. Since 1.2.
const whatHolds = Schema.optionalKey(Holds)

// The event names the deferred item, if any.
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
    "an operator or the budget no longer holds a project's queue; it runs again unless `holds` names the other",
    {
      details: fields({
        projectId: Schema.String,
        reason: Schema.NullOr(Schema.String),
        resumedBy: Schema.NullOr(Schema.String),
        automatic: Schema.Boolean,
        holds: whatHolds
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

/** Events of a release, which they carry in place of a work item. */
export const releaseEvents = [
  releaseEvent("release.created", "a release was created and is open"),
  releaseEvent("release.closed", "a release takes no more work items"),
  releaseEvent("release.abandoned", "an open release was given up"),
  releaseEvent("release.reopened", "a failed release is open again"),
  releaseEvent("release.has_failed_work_items", "a release was closed with failed or cancelled items linked to it"),
  releaseEvent("release.in_review", "the deep audit of a release began"),
  releaseEvent("release.deep_audit_iteration_complete", "an iteration of the deep audit ended", {
    details: fields({ iteration: Count, maxIterations: Count, blockingFindings: Count, totalFindings: Count })
  }),
  releaseEvent("release.deep_audit_remediation_dispatched", "the deep audit created an item to mend what it found"),
  releaseEvent("release.work_item_added", "a work item was linked to the release"),
  releaseEvent("release.published", "the release was merged to main"),
  releaseEvent("release.failed", "the deep audit did not pass within its iterations"),
  releaseEvent("release.sync_conflict", "the release branch cannot be synced without a hand", {
    details: fields({ sourceBranch: Schema.String, targetBranch: Schema.String })
  })
]
