/** Events of a work item: its path through the phases, its waits, and the steps within a run. */
import { Schema } from "effect"
import { Count, Id, Ordinal, text, Timestamp } from "../primitives.ts"
import { fields, fieldsOrNull, fleetEvent, itemEvent, progressEvent } from "./declaration.ts"
import { Finding } from "./entities.ts"

/** A git commit, abbreviated or full. */
export const ResolutionSha = Schema.String.check(Schema.isPattern(/^[0-9a-fA-F]{7,40}$/u))
export const cancelReasonCharactersMax = 500

/** Events from the start of work to the item's end. */
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

export const suggestionTitleCharactersMax = 120
export const questionTextCharactersMax = 4_000
export const QuestionId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u))

/** A phase that moved from one member of an agent class to another; null: no member is left. */
const fallback = fields({
  workItemId: Id,
  phase: Schema.String,
  iteration: Count,
  reason: Schema.String,
  fromAgent: Schema.String,
  fromModel: Schema.NullOr(Schema.String),
  toAgent: Schema.NullOr(Schema.String),
  toModel: Schema.NullOr(Schema.String)
})

/** Waits for an operator, an agent, a retry or a quota; and the suggestions that agents make. */
export const waitingEvents = [
  itemEvent("work_item.suggestion", "the agent made a suggestion; one event for each", {
    details: fields({
      id: Id,
      title: text(suggestionTitleCharactersMax),
      category: Schema.Literals(["test-coverage", "refactor", "dead-code", "security", "dependency", "docs", "other"]),
      severity: Schema.Literals(["minor", "notable", "important"]),
      estimatedEffort: Schema.Literals(["tiny", "small", "medium", "large"]),
      filesReferenced: Schema.Array(Schema.String)
    })
  }),
  itemEvent("work_item.needs_operator_input", "the item waits for an operator's answer"),
  itemEvent("work_item.waiting_for_agent_resume", "the only agent that could take the item is paused", {
    details: fields({
      reason: Schema.String,
      retryFrom: Schema.Literals(["work", "audit", "merge", "upstream"])
    })
  }),
  itemEvent("work_item.waiting_for_transient_retry", "the item waits to try again after a transport failure", {
    details: fields({
      workItemId: Id,
      phase: Schema.String,
      agent: Schema.String,
      reason: Schema.String,
      nextRetryAt: Timestamp,
      attempts: Count
    })
  }),
  itemEvent("work_item.waiting_for_quota_reset", "every agent that could take the item is out of quota", {
    details: fallback
  }),
  itemEvent("work_item.question_asked", "the agent asked a new question", {
    details: fields({ questionId: QuestionId, questionText: text(questionTextCharactersMax) })
  }),
  itemEvent("work_item.question_answered", "an operator answered a question", {
    details: fields({
      workItemId: Id,
      projectId: Schema.String,
      questionId: QuestionId,
      answer: Schema.String,
      answeredBy: Schema.Null
    })
  }),
  itemEvent("work_item.question_dismissed", "an operator dismissed a question", {
    details: fields({
      workItemId: Id,
      projectId: Schema.String,
      questionId: QuestionId,
      reason: Schema.NullOr(Schema.String)
    })
  }),
  fleetEvent("agent.fallback", "routing moved a phase to another member of the agent's class", { details: fallback })
]

const of = { workItemId: Id, iteration: Ordinal }
const branches = { workItemId: Id, baseBranch: Schema.String, workBranch: Schema.String }
const phase = Schema.Literals(["work", "rework"])

/**
 * Events delivered only if a filter asks for them. The iteration counts up within one uninterrupted run and restarts at
 * 1 after a preemption.
 */
export const progressEvents = [
  progressEvent("iteration.started", "a work or rework iteration was dispatched", {
    details: fields({ ...of, phase, dispatchedAt: Timestamp })
  }),
  progressEvent("iteration.completed", "an iteration ended with a commit", {
    details: fields({ ...of, phase, commitSha: Schema.NullOr(Schema.String), durationMs: Count })
  }),
  progressEvent("audit.started", "the auditors of an iteration were scheduled", {
    details: fields({ ...of, auditorsScheduled: Schema.Array(Schema.String) })
  }),
  progressEvent("audit.findings.emitted", "an audit iteration reported its findings, none included", {
    details: fields({ ...of, findings: Schema.Array(Finding), blocking: Count, nonBlocking: Count })
  }),
  progressEvent("audit.completed", "the audit phase ended with a verdict", {
    details: fields({ ...of, verdict: Schema.Literals(["pass", "fail"]), durationMs: Count })
  }),
  progressEvent("audit.auditor_timed_out", "an auditor did not answer in time", {
    details: fields({ ...of, auditor: Schema.String, agent: Schema.String, sandboxId: Schema.String })
  }),
  progressEvent("merge.started", "the merge phase took the branch up", { details: fields(branches) }),
  progressEvent("merge.completed", "the merge phase let go of the branch", {
    details: fields({ ...branches, mergeSha: Schema.NullOr(Schema.String) })
  })
]
