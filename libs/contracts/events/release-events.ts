/** Events of a release. They carry the release in place of a work item. */
import { Schema } from "effect"
import { Count } from "../primitives.ts"
import { fields, releaseEvent } from "./declaration.ts"

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
