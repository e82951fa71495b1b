/** Events of a work item on its way through the phases, from work to its end. */
import { Schema } from "effect"
import { Count, Id, Ordinal, text, Timestamp } from "../primitives.ts"
import { fields, fieldsOrNull, itemEvent } from "./declaration.ts"

/** A git commit, abbreviated or whole. */
export const ResolutionSha = Schema.String.check(Schema.isPattern(/^[0-9a-fA-F]{7,40}$/u))
export const cancelReasonCharactersMax = 500

export const workItemEvents = [
  itemEvent("work_item.working", "the work phase begins"),
  itemEvent("work_item.work_complete", "the work phase succeeded and its changes are committed"),
  itemEvent("work_item.auditing", "an audit phase begins, once per iteration"),
  itemEvent("work_item.audit_iteration", "an audit iteration ended, passed or not", {
    details: fields({
      iteration: Count,
      totalIterations: Count,
      blockingFindings: Count,
      nonBlockingFindings: Count
    })
  }),
  itemEvent("work_item.audit_passed", "every audit iteration passed and merging is next"),
  itemEvent("work_item.reworking", "an audit blocked and rework begins"),
  itemEvent("work_item.audit_failed", "the audit did not converge within its iterations"),
  itemEvent("work_item.merging", "the merge phase begins"),
  itemEvent("work_item.merged", "the merge phase succeeded"),
  itemEvent("work_item.upstream_pushing", "the push to upstream begins"),
  itemEvent("work_item.pull_request_opened", "a hosted forge opened a pull request for the work branch", {
    details: fields({
      workBranch: Schema.String,
      baseBranch: Schema.String,
      pullRequestNumber: Count,
      pullRequestUrl: Schema.String,
      mergedSha: Schema.NullOr(Schema.String)
    })
  }),
  itemEvent("work_item.done", "the item is completed"),
  itemEvent("work_item.failed", "the item cannot be completed"),
  itemEvent("work_item.cancelled", "somebody cancelled the item through the API", {
    details: fieldsOrNull({
      priorState: Schema.String,
      reason: Schema.NullOr(text(cancelReasonCharactersMax)),
      resolutionSha: Schema.NullOr(ResolutionSha)
    })
  }),
  itemEvent("work_item.no_action_required", "the agent found nothing to do; the item ends unchanged"),
  itemEvent("work_item.agent_stuck", "a hanging agent was detected and killed", {
    details: fields({
      phase: Schema.Literals(["work", "rework", "merge"]),
      agentKind: Schema.String,
      stuckSeconds: Count,
      killed: Schema.Literal(true)
    })
  }),
  itemEvent("work_item.recovered", "an item that was interrupted by a crash is back in the pipeline, or given up", {
    details: fields({
      workItemId: Id,
      projectId: Schema.String,
      fromState: Schema.String,
      toState: Schema.String,
      reason: Schema.String,
      recoveryAttempt: Ordinal,
      maxRecoveryAttempts: Count
    })
  }),
  itemEvent("work_item.auto_retry", "an item was queued again after a quota reset or a transient failure", {
    details: fields({
      workItemId: Id,
      reason: Schema.Literals(["quota", "transient"]),
      attemptNumber: Ordinal,
      triggeredBy: Schema.Literals(["targeted", "periodic", "rearm-overdue", "startup"])
    })
  }),
  itemEvent("work_item.agent_restore_requeued", "a failed item was queued again because its agent is back", {
    details: fields({
      workItemId: Id,
      reason: Schema.Literal("agent_restore"),
      restoredAgent: Schema.String,
      failureKind: Schema.NullOr(Schema.String),
      triggeredBy: Schema.Literal("agent-restore"),
      from: Schema.NullOr(Schema.String),
      outageStartedAt: Schema.NullOr(Timestamp),
      restoredAt: Timestamp
    })
  }),
  itemEvent("work_item.resumed", "a cancelled item re-entered the pipeline", {
    details: fields({
      id: Id,
      externalId: Schema.NullOr(Schema.String),
      resumedFromPhase: Schema.NullOr(Schema.String)
    })
  }),
  itemEvent("work_item.delegated", "the item entered the delegation phase", {
    details: fields({
      trigger: Schema.Literals(["operator", "audit-max-iterations", "repeated-terminal-failure"]),
      priorState: Schema.String,
      reason: Schema.String,
      note: Schema.NullOr(Schema.String),
      terminalFailureCount: Schema.NullOr(Count),
      autoEscalated: Schema.Boolean
    })
  }),
  itemEvent(
    "work_item.merge_conflict_resolution_failed",
    "the resolution of a merge conflict was refused; the item ends",
    {
      details: "open"
    }
  ),
  itemEvent("work_item.check_followup_enqueued", "the verdict of a check queued a follow-up item", {
    details: fields({ originCheckWorkItemId: Id, followupWorkItemId: Id })
  }),
  itemEvent("work_item.post_act_recheck_completed", "the check after an act has ended", {
    details: fields({
      iteration: Count,
      answer: Schema.String,
      actionableAnswer: Schema.String,
      originCheckWorkItemId: Id
    })
  })
]
