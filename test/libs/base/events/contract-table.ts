/**
 * The contract's tables of events, written by hand beside the schemas: which of item, project and details an event
 * carries, and the type of every field of its details. `?` after a type: or null. `~` before it: optional, because a
 * later minor version added it. A type with `|` is one of these words.
 */

/** `null`: always; `open`: null or any object. */
export type DetailsRow = "null" | "open" | Readonly<Record<string, string>>

export interface EventRow {
  readonly workItem: "present" | "null" | "either" | "absent"
  readonly project: "present" | "null" | "either"
  readonly details: DetailsRow
  /** Details may be null as a whole. */
  readonly mayBeNull?: boolean
}

const item = (details: DetailsRow = "null", mayBeNull = false): EventRow => ({
  workItem: "present",
  project: "present",
  details,
  mayBeNull
})
const fleet = (details: DetailsRow): EventRow => ({ workItem: "null", project: "null", details })
const maybeItem = (details: DetailsRow): EventRow => ({ workItem: "either", project: "either", details })
const ofProject = (details: DetailsRow): EventRow => ({ workItem: "null", project: "present", details })
const release = (details: DetailsRow = "open"): EventRow => ({ workItem: "absent", project: "present", details })

const iteration = { workItemId: "string", iteration: "int" }
const branches = { workItemId: "string", baseBranch: "string", workBranch: "string" }
const restored = { outageStartedAt: "time?", restoredAt: "time" }
const fallback = {
  workItemId: "string",
  phase: "string",
  iteration: "int",
  reason: "string",
  fromAgent: "string",
  fromModel: "string?",
  toAgent: "string?",
  toModel: "string?"
}
const session = fleet({ workItemId: "string", sessionId: "string", error: "string" })
const spend = fleet({
  projectId: "string",
  currentSpendUsd: "number",
  budgetUsd: "number",
  pct: "number",
  thresholdPct: "int"
})
const leak = { name: "service-name", ageMinutes: "number", diskMb: "number?", reason: "string" }
const agent = { agent: "string", agentInstanceId: "string?" }
const queueOf = (by: string) => ({ projectId: "string", reason: "string?", [by]: "string?", automatic: "bool" })
const whatHolds = { holds: "~holds" }

const plain = ["working", "work_complete", "auditing", "audit_passed", "reworking", "audit_failed", "merging"].concat(
  ["merged", "upstream_pushing", "done", "failed", "no_action_required"],
  "needs_operator_input"
)

const workItemEvents: Readonly<Record<string, EventRow>> = {
  ...Object.fromEntries(plain.map((name) => [`work_item.${name}`, item()])),
  "work_item.audit_iteration": item({
    iteration: "int",
    totalIterations: "int",
    blockingFindings: "int",
    nonBlockingFindings: "int"
  }),
  "work_item.pull_request_opened": item({
    workBranch: "string",
    baseBranch: "string",
    pullRequestNumber: "int",
    pullRequestUrl: "string",
    mergedSha: "string?"
  }),
  "work_item.agent_stuck": item({
    phase: "work|rework|merge",
    agentKind: "string",
    stuckSeconds: "int",
    killed: "true"
  }),
  "work_item.waiting_for_agent_resume": item({ reason: "string", retryFrom: "work|audit|merge|upstream" }),
  "work_item.waiting_for_transient_retry": item({
    workItemId: "string",
    phase: "string",
    agent: "string",
    reason: "string",
    nextRetryAt: "time",
    attempts: "int"
  }),
  "work_item.waiting_for_quota_reset": item(fallback),
  "work_item.suggestion": item({
    id: "string",
    title: "string",
    category: "test-coverage|refactor|dead-code|security|dependency|docs|other",
    severity: "minor|notable|important",
    estimatedEffort: "tiny|small|medium|large",
    filesReferenced: "string[]"
  }),
  "work_item.question_asked": item({ questionId: "question-id", questionText: "string" }),
  "work_item.question_answered": item({
    workItemId: "string",
    projectId: "string",
    questionId: "question-id",
    answer: "string",
    answeredBy: "nothing"
  }),
  "work_item.question_dismissed": item({
    workItemId: "string",
    projectId: "string",
    questionId: "question-id",
    reason: "string?"
  }),
  "work_item.recovered": item({
    workItemId: "string",
    projectId: "string",
    fromState: "string",
    toState: "string",
    reason: "string",
    recoveryAttempt: "int",
    maxRecoveryAttempts: "int"
  }),
  "work_item.auto_retry": item({
    workItemId: "string",
    reason: "quota|transient",
    attemptNumber: "int",
    triggeredBy: "targeted|periodic|rearm-overdue|startup"
  }),
  "work_item.agent_restore_requeued": item({
    workItemId: "string",
    reason: "agent_restore",
    restoredAgent: "string",
    failureKind: "string?",
    triggeredBy: "agent-restore",
    from: "string?",
    ...restored
  }),
  "work_item.cancelled": item({ priorState: "string", reason: "string?", resolutionSha: "sha?" }, true),
  "work_item.resumed": item({ id: "string", externalId: "string?", resumedFromPhase: "string?" }),
  "work_item.delegated": item({
    trigger: "operator|audit-max-iterations|repeated-terminal-failure",
    priorState: "string",
    reason: "string",
    note: "string?",
    terminalFailureCount: "int?",
    autoEscalated: "bool"
  }),
  "work_item.merge_conflict_resolution_failed": item("open"),
  "work_item.check_followup_enqueued": item({ originCheckWorkItemId: "string", followupWorkItemId: "string" }),
  "work_item.post_act_recheck_completed": item({
    iteration: "int",
    answer: "string",
    actionableAnswer: "string",
    originCheckWorkItemId: "string"
  }),
  "iteration.started": item({ ...iteration, phase: "work|rework", dispatchedAt: "time" }),
  "iteration.completed": item({ ...iteration, phase: "work|rework", commitSha: "string?", durationMs: "int" }),
  "audit.started": item({ ...iteration, auditorsScheduled: "string[]" }),
  "audit.findings.emitted": item({ ...iteration, findings: "findings", blocking: "int", nonBlocking: "int" }),
  "audit.completed": item({ ...iteration, verdict: "pass|fail", durationMs: "int" }),
  "audit.auditor_timed_out": item({ ...iteration, auditor: "string", agent: "string", sandboxId: "string" }),
  "merge.started": item(branches),
  "merge.completed": item({ ...branches, mergeSha: "string?" })
}

const fleetEvents: Readonly<Record<string, EventRow>> = {
  "agent.smoke_failed": maybeItem({
    agentKind: "string",
    reason: "string?",
    category: "Persistent|Transient|Unknown",
    occurredAt: "time"
  }),
  "agent.smoke_recovered": fleet("open"),
  "agent.paused": fleet({ ...agent, reason: "string", pausedAt: "time", pausedBy: "string", expiresAt: "time?" }),
  "agent.resumed": fleet({ ...agent, resumedAt: "time", resumedBy: "string", reason: "string?", ...whatHolds }),
  "agent.restore_requeue_swept": fleet({
    reason: "agent_restore",
    restoredAgent: "string",
    ...restored,
    requeued: "int",
    skipped: "int"
  }),
  "agent.fallback": fleet(fallback),
  "agent.provider_session_suspend_failed": session,
  "agent.provider_session_close_failed": session,
  "queue.paused": fleet({ pausedAt: "time", reason: "string", pausedBy: "string" }),
  "queue.resumed": fleet({ resumedAt: "time" }),
  "budget.deferred": maybeItem({ reason: "string", suggestedRetryAt: "time" }),
  "disk.deferred": maybeItem({
    mountPath: "string",
    freeBytes: "int",
    thresholdBytes: "int",
    suggestedRetryAt: "time"
  }),
  "project.budget_warning": spend,
  "project.budget_exceeded": spend,
  "project.budget_recovered": spend,
  "project.queue_paused": ofProject({ ...queueOf("pausedBy"), ...whatHolds }),
  "project.queue_resumed": ofProject({ ...queueOf("resumedBy"), ...whatHolds }),
  "sandbox.leak_detected": fleet(leak),
  "sandbox.leak_disposed": fleet({ ...leak, disposedAt: "time" }),
  "sandbox.leak_dispose_failed": fleet({ ...leak, error: "string" }),
  "sandbox.provisioning_deferred": maybeItem({
    provider: "string",
    operation: "string",
    errorClass: "string",
    resumeState: "string",
    suggestedRetryAt: "time"
  }),
  "quota.reset_optimal": fleet({
    agent: "string",
    reason: "SpendBeforeDeadline",
    bankedCredits: "int?",
    optimalUntil: "time",
    optimalFrom: "time?",
    predictedNaturalReset: "time?",
    decisionDeadline: "time?",
    nextCreditExpiresAt: "time?",
    nextCreditIsEstimated: "bool",
    usableQuotaPct: "number?"
  }),
  "upstream.pr_stale_base": {
    workItem: "either",
    project: "present",
    details: {
      projectId: "string",
      pullRequestNumber: "int",
      pullRequestUrl: "string",
      headBranch: "string",
      headSha: "string",
      baseBranch: "string",
      firstDetectedAt: "time"
    }
  }
}

const releases = ["created", "closed", "abandoned", "reopened", "has_failed_work_items", "in_review"].concat(
  ["deep_audit_remediation_dispatched", "work_item_added", "published"],
  "failed"
)

const releaseEvents: Readonly<Record<string, EventRow>> = {
  ...Object.fromEntries(releases.map((name) => [`release.${name}`, release()])),
  "release.sync_conflict": release({ sourceBranch: "string", targetBranch: "string" }),
  "release.deep_audit_iteration_complete": release({
    iteration: "int",
    maxIterations: "int",
    blockingFindings: "int",
    totalFindings: "int"
  })
}

export const contractTable: Readonly<Record<string, EventRow>> = { ...workItemEvents, ...fleetEvents, ...releaseEvents }
