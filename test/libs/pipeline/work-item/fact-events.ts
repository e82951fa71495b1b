/**
 * The events of each fact, from the events' own table, kept apart from the code under test. A transition's event has
 * the name of the state that the fact leads to. A fact whose event is named otherwise, or that has none, is listed
 * here.
 */
import type { WorkItemFact, WorkItemFactTag } from "#pipeline/contract"

const dispatched: Record<string, ReadonlyArray<string>> = {
  work: ["work_item.working", "iteration.started"],
  rework: ["iteration.started"],
  audit: ["work_item.auditing", "audit.started"],
  merge: ["work_item.merging", "merge.started"],
  upstream: ["work_item.upstream_pushing"],
  "conflict-rework": [],
  delegation: []
}
const deferred = { budget: "budget.deferred", disk: "disk.deferred", sandbox: "sandbox.provisioning_deferred" }

const fixed: Record<Exclude<WorkItemFactTag, "Dispatched" | "Deferred">, ReadonlyArray<string>> = {
  Created: [],
  Progressed: [],
  UsageAdded: [],
  AuthFailed: [],
  Retired: [],
  ConflictFound: [],
  ConflictResolved: [],
  StaleHeadNoted: [],
  StaleHeadForgotten: [],
  PushFailed: [],
  AgentResumed: [],
  Preempted: [],
  IterationCompleted: ["iteration.completed"],
  WorkCompleted: ["work_item.work_complete"],
  EndedWithoutAction: ["work_item.no_action_required"],
  Completed: ["work_item.done"],
  Failed: ["work_item.failed"],
  AuditEnded: ["audit.findings.emitted", "work_item.audit_iteration", "audit.completed"],
  AuditorTimedOut: ["audit.auditor_timed_out"],
  AuditPassed: ["work_item.audit_passed"],
  ReworkBegan: ["work_item.reworking"],
  AuditFailed: ["work_item.audit_failed"],
  Merged: ["merge.completed", "work_item.merged"],
  ConflictResolutionFailed: ["work_item.merge_conflict_resolution_failed"],
  PullRequestOpened: ["work_item.pull_request_opened"],
  OperatorInputNeeded: ["work_item.needs_operator_input"],
  QuestionAsked: ["work_item.question_asked"],
  QuestionAnswered: ["work_item.question_answered"],
  QuestionDismissed: ["work_item.question_dismissed"],
  SuggestionMade: ["work_item.suggestion"],
  Cancelled: ["work_item.cancelled"],
  Resumed: ["work_item.resumed"],
  Delegated: ["work_item.delegated"],
  WaitingForAgent: ["work_item.waiting_for_agent_resume"],
  WaitingForRetry: ["work_item.waiting_for_transient_retry"],
  WaitingForQuota: ["work_item.waiting_for_quota_reset"],
  FellBack: ["agent.fallback"],
  AutoRetried: ["work_item.auto_retry"],
  AgentRestoreRequeued: ["work_item.agent_restore_requeued"],
  AgentStuck: ["work_item.agent_stuck"],
  Recovered: ["work_item.recovered"],
  FollowUpAsked: ["work_item.check_followup_enqueued"],
  RecheckCompleted: ["work_item.post_act_recheck_completed"]
}

export const eventsOf = (fact: WorkItemFact): ReadonlyArray<string> => {
  if (fact._tag === "Deferred") return [deferred[fact.deferral.kind]]
  if (fact._tag !== "Dispatched") return fixed[fact._tag]
  const isBack = fact.dispatch.phase === "rework" && fact.from !== "Reworking"
  return [...(isBack ? ["work_item.reworking"] : []), ...(dispatched[fact.dispatch.phase] ?? [])]
}

/** Facts that return an item to an earlier place, or stand for a step without an event of its own. */
export const backFacts: ReadonlySet<WorkItemFactTag> = new Set<WorkItemFactTag>([
  "Recovered",
  "AutoRetried",
  "AgentRestoreRequeued",
  "AgentResumed",
  "Resumed",
  "QuestionAnswered",
  "QuestionDismissed",
  "FellBack",
  "Deferred",
  "PushFailed",
  "ConflictResolved",
  "Preempted"
])
