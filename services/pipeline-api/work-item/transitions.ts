/**
 * The life of a work item as one table: for every state, which inputs it takes (commands by name, reports by kind) and
 * which states they may lead to. An input that leads nowhere (`[]`) is taken and changes nothing; one that is not
 * listed is refused. Reports of a dispatch that is over never get here. Guards beyond the state are the concerns' own.
 */
import type { WorkItemStateName } from "#contracts"
import type { Input } from "./decisions.ts"
import { isEnded, isParked } from "./phases.ts"

export type Row = Partial<Record<Input, ReadonlyArray<WorkItemStateName>>>

// A failure for good is a delegation right away where the project wants it.
const failed = ["Failed", "Delegated"] as const
const abandoned = "AbandonedAfterRecoveryAttempts"
const unresolved = "MergeConflictResolutionFailed"

/** Of every state that can still go somewhere. `AgentResumed` reaches items that wait for no agent any more. */
const alive = { Cancel: ["Cancelled"], Delegate: ["Delegated"], AgentResumed: [] } satisfies Row

/** A runner has the item; `back` is where its phase is waited for. Told again, a question is passed over. */
const inHand = (state: WorkItemStateName, back: WorkItemStateName, preempted: WorkItemStateName = back) =>
  ({
    ...alive,
    // The same one again; another is refused.
    Dispatch: [state],
    Defer: [back],
    Recover: [back, abandoned],
    progress: [state],
    "questions-asked": ["NeedsOperatorInput"],
    "suggestions-made": [state],
    "agent-died": [back, abandoned],
    "auth-failed": failed,
    "quota-hit": [back, "WaitingForQuotaReset", ...failed],
    "transient-failed": ["WaitingForTransientRetry", ...failed],
    failed,
    preempted: [preempted]
  }) satisfies Row

/** The item waits for a runner. At a phase boundary it may be handed back to itself; the queue's end is none. */
const ready = (state: WorkItemStateName) =>
  ({
    ...alive,
    Defer: [state],
    Recover: [state, abandoned],
    ParkForAgent: ["WaitingForAgentResume"],
    RouteToConflictRework: ["ConflictRework", unresolved]
  }) satisfies Row

/** Where an item that waited may be waited for by a runner again. */
const anyReady = [
  "Queued",
  "WorkComplete",
  "Reworking",
  "AuditPassed",
  "Merged",
  "ConflictRework",
  "Delegated"
] as const

export const transitions: Record<WorkItemStateName, Row> = {
  Queued: {
    ...ready("Queued"),
    Recover: [],
    // Of a phase other than work after its host went down.
    Dispatch: ["Working", "Reworking", "Auditing"]
  },
  Working: {
    ...inHand("Working", "Queued"),
    "iteration-ended": ["WorkComplete", "NoActionRequired", ...failed],
    "check-verdict": ["Done", "NoActionRequired"],
    "agent-stuck": ["Queued", ...failed]
  },
  WorkComplete: { ...ready("WorkComplete"), Dispatch: ["Auditing"] },
  Auditing: {
    ...inHand("Auditing", "WorkComplete", "Queued"),
    "audit-ended": ["AuditPassed", "Reworking", "AuditFailed", "Delegated"],
    "auditor-timed-out": ["Auditing"]
  },
  AuditPassed: { ...ready("AuditPassed"), Dispatch: ["Merging"] },
  Reworking: {
    ...ready("Reworking"),
    ...inHand("Reworking", "Reworking", "Queued"),
    Dispatch: ["Reworking"],
    "iteration-ended": ["WorkComplete"],
    "agent-stuck": ["Reworking", ...failed]
  },
  Merging: {
    ...inHand("Merging", "AuditPassed"),
    "merge-ended": ["Merged", "ConflictRework", unresolved, ...failed],
    "agent-stuck": ["AuditPassed", ...failed]
  },
  ConflictRework: {
    ...ready("ConflictRework"),
    ...inHand("ConflictRework", "ConflictRework"),
    Dispatch: ["ConflictRework", "Merging", "UpstreamPushing"],
    RouteToConflictRework: [],
    "conflict-rework-ended": ["ConflictRework", unresolved]
  },
  Merged: { ...ready("Merged"), Dispatch: ["UpstreamPushing"] },
  UpstreamPushing: {
    ...inHand("UpstreamPushing", "Merged"),
    "pull-request-opened": ["UpstreamPushing"],
    "push-ended": ["Done", "Merged", ...failed],
    "recheck-completed": ["UpstreamPushing"]
  },
  Delegated: {
    ...ready("Delegated"),
    ...inHand("Delegated", "Delegated"),
    Delegate: [],
    Dispatch: ["Delegated"],
    "iteration-ended": ["WorkComplete", "NoActionRequired", ...failed],
    "check-verdict": ["Done", "NoActionRequired"]
  },
  NeedsOperatorInput: {
    ...alive,
    Answer: ["NeedsOperatorInput", ...anyReady],
    DismissQuestion: ["NeedsOperatorInput", ...anyReady],
    "questions-asked": ["NeedsOperatorInput"],
    "suggestions-made": ["NeedsOperatorInput"]
  },
  WaitingForAgentResume: { ...alive, AgentResumed: anyReady, ParkForAgent: [] },
  WaitingForTransientRetry: { ...alive, AutoRetry: anyReady },
  WaitingForQuotaReset: { ...alive, AutoRetry: anyReady },
  Done: { Retire: ["Done"], RouteToConflictRework: ["ConflictRework"], "recheck-completed": ["Done"] },
  Failed: {
    Retire: ["Failed"],
    AgentRestoreRequeue: anyReady,
    Delegate: ["Delegated"],
    RouteToConflictRework: ["ConflictRework"]
  },
  AuditFailed: { Retire: ["AuditFailed"], Delegate: ["Delegated"] },
  Cancelled: { Retire: ["Cancelled"], Resume: anyReady },
  NoActionRequired: { Retire: ["NoActionRequired"] },
  MergeConflictResolutionFailed: { Retire: [unresolved], Cancel: ["Cancelled"] },
  AbandonedAfterRecoveryAttempts: { Retire: [abandoned] }
}

/** Why a state does not take an input, in words for whoever sent it. */
export const refusalOf = (state: WorkItemStateName, input: Input): string => {
  if (input === "Resume") return "only a cancelled item can be resumed"
  if (input === "Retire") return "only an item that has ended can be retired"
  if (input === "AgentRestoreRequeue") return "only a failed item can be queued again for its agent's return"
  if (input === "AutoRetry") return "it waits for no retry"
  if (input === "Answer" || input === "DismissQuestion") return "no question is open"
  if (isEnded(state)) return `it has ended, and takes no ${input}`
  return isParked(state) ? `it is parked, and takes no ${input}` : `it takes no ${input} now`
}
