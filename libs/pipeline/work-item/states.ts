/**
 * The states of a work item. Each phase has a state in which the item waits for a runner and one in which a runner has
 * it; three states are both at once, and the dispatch shows whether a runner has the item.
 *
 * `transitions` is the life of an item as one table: for every state, which inputs it accepts (commands by name,
 * reports by kind) and which states they can lead to. An input that leads nowhere (`[]`) is accepted and changes
 * nothing; one that is not listed is refused. Reports of a finished dispatch never get here. The concerns hold all
 * guards beyond the state.
 */
import type { WorkItemDispatch, WorkItemPhase, WorkItemState, WorkItemStateName } from "#pipeline/contract"
import type { Input } from "./concern.ts"

/** The state in which an item of that phase waits for a runner, at first and after every interruption. */
export const readyState: Record<WorkItemPhase, WorkItemStateName> = {
  work: "Queued",
  audit: "WorkComplete",
  rework: "Reworking",
  merge: "AuditPassed",
  upstream: "Merged",
  "conflict-rework": "ConflictRework",
  delegation: "Delegated"
}

export const activeState: Record<WorkItemPhase, WorkItemStateName> = {
  work: "Working",
  audit: "Auditing",
  rework: "Reworking",
  merge: "Merging",
  upstream: "UpstreamPushing",
  "conflict-rework": "ConflictRework",
  delegation: "Delegated"
}

const readyStates: ReadonlySet<WorkItemStateName> = new Set(Object.values(readyState))

/** A runner can take the item's phase. */
export const isReady = (item: WorkItemState) => item.dispatch === null && readyStates.has(item.state)

const endStates: ReadonlySet<WorkItemStateName> = new Set([
  "Done",
  "Failed",
  "Cancelled",
  "NoActionRequired",
  "AuditFailed",
  "MergeConflictResolutionFailed",
  "AbandonedAfterRecoveryAttempts"
])

export const isEnded = (state: WorkItemStateName) => endStates.has(state)

const parkedStates: ReadonlySet<WorkItemStateName> = new Set([
  "NeedsOperatorInput",
  "WaitingForAgentResume",
  "WaitingForTransientRetry",
  "WaitingForQuotaReset"
])

/** The item waits for something other than a runner. */
export const isParked = (state: WorkItemStateName) => parkedStates.has(state)

/**
 * The iteration of a phase in its run. Audits count when they end, so the iteration in progress, and its audit, is the
 * next. A phase after the last audit belongs to the iteration that passed it.
 */
export const iterationOf = (item: WorkItemState, phase: WorkItemPhase | null): number =>
  phase === "work" || phase === "rework" || phase === "audit"
    ? item.auditedIterations + 1
    : Math.max(item.auditedIterations, 1)

/** The changes after which the item waits for that phase again. */
export const readyFor = (phase: WorkItemPhase) => ({ state: readyState[phase], phase, dispatch: null })

/** The item without a runner, in a state that keeps the phase. */
export const undispatched = (state: WorkItemStateName) => ({ state, dispatch: null })

/** The phase in progress, otherwise the kept one. */
export const phaseOf = (item: WorkItemState): WorkItemPhase => item.dispatch?.phase ?? item.phase ?? "work"

/** The agent that has the phase; otherwise the one that is to take it. */
export const agentOf = (item: WorkItemState, dispatch: WorkItemDispatch | null = item.dispatch) => ({
  fromAgent: dispatch?.agent ?? item.agent,
  fromModel: dispatch?.model ?? null
})

type Row = Partial<Record<Input, ReadonlyArray<WorkItemStateName>>>

// If the project wants it, a permanent failure becomes a delegation at once.
const failed = ["Failed", "Delegated"] as const
const abandoned = "AbandonedAfterRecoveryAttempts"
const unresolved = "MergeConflictResolutionFailed"

/**
 * The states of an item after the base of its pull request moved on. They follow at once or, if a runner has the item
 * or it waits, with the input that frees it, beside the states in that input's own row.
 */
export const whenLeftBehind: ReadonlyArray<WorkItemStateName> = ["ConflictRework", unresolved]

/** The item remembers that its pull request is stale. */
const mindful = (state: WorkItemStateName) =>
  ({ RouteToConflictRework: [state], ForgetStaleHead: [state] }) satisfies Row

/** Inputs of every state that is not final. `AgentResumed` also reaches items that no longer wait for an agent. */
const alive = (state: WorkItemStateName) =>
  ({ ...mindful(state), Cancel: ["Cancelled"], Delegate: ["Delegated"], AgentResumed: [] }) satisfies Row
/** Nothing is left except to retire the item. */
const ended = (state: WorkItemStateName) => ({ ForgetStaleHead: [], Retire: [state] }) satisfies Row

/** A runner has the item; `back` is where its phase waits for a runner. A repeated question is ignored. */
const inHand = (state: WorkItemStateName, back: WorkItemStateName, preempted: WorkItemStateName = back) =>
  ({
    ...alive(state),
    // A repeat of the same dispatch; another dispatch is refused.
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

/** The item has ended, unless its pull request is stale. */
const reworkable = (state: WorkItemStateName) =>
  ({ ...ended(state), ForgetStaleHead: [state], RouteToConflictRework: ["ConflictRework"] }) satisfies Row

/**
 * The item waits for a runner. At a phase boundary it can be handed back to itself; the queue is not such a boundary.
 */
const ready = (state: WorkItemStateName) =>
  ({
    ...alive(state),
    Defer: [state],
    Recover: [state, abandoned],
    ParkForAgent: ["WaitingForAgentResume"],
    RouteToConflictRework: whenLeftBehind
  }) satisfies Row

/** The states in which a waiting item can wait for a runner again. */
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
    // A phase other than work is taken here after its host shut down.
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
    RouteToConflictRework: ["Reworking", ...whenLeftBehind],
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
    RouteToConflictRework: whenLeftBehind,
    // Back to the interrupted phase, if that was before the audit.
    "conflict-rework-ended": ["ConflictRework", unresolved, "Queued", "WorkComplete", "Reworking", "Delegated"]
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
    RouteToConflictRework: ["Delegated", ...whenLeftBehind],
    "iteration-ended": ["WorkComplete", "NoActionRequired", ...failed],
    "check-verdict": ["Done", "NoActionRequired"]
  },
  NeedsOperatorInput: {
    ...alive("NeedsOperatorInput"),
    Answer: ["NeedsOperatorInput", ...anyReady],
    DismissQuestion: ["NeedsOperatorInput", ...anyReady],
    "questions-asked": ["NeedsOperatorInput"],
    "suggestions-made": ["NeedsOperatorInput"]
  },
  WaitingForAgentResume: { ...alive("WaitingForAgentResume"), AgentResumed: anyReady, ParkForAgent: [] },
  WaitingForTransientRetry: { ...alive("WaitingForTransientRetry"), AutoRetry: anyReady },
  WaitingForQuotaReset: { ...alive("WaitingForQuotaReset"), AutoRetry: anyReady },
  Done: { ...reworkable("Done"), "recheck-completed": ["Done"] },
  Failed: { ...reworkable("Failed"), AgentRestoreRequeue: anyReady, Delegate: ["Delegated"] },
  AuditFailed: { ...ended("AuditFailed"), Delegate: ["Delegated"] },
  Cancelled: { ...ended("Cancelled"), ...mindful("Cancelled"), Resume: anyReady },
  NoActionRequired: ended("NoActionRequired"),
  MergeConflictResolutionFailed: { ...ended(unresolved), Cancel: ["Cancelled"] },
  AbandonedAfterRecoveryAttempts: ended(abandoned)
}

/** Why a state does not accept an input, in words for its sender. */
export const refusalOf = (state: WorkItemStateName, input: Input): string => {
  if (input === "Resume") return "only a cancelled item can be resumed"
  if (input === "Retire") return "only an item that has ended can be retired"
  if (input === "AgentRestoreRequeue") return "only a failed item can be queued again for its agent's return"
  if (input === "AutoRetry") return "it waits for no retry"
  if (input === "Answer" || input === "DismissQuestion") return "no question is open"
  if (isEnded(state)) return `it has ended, and takes no ${input}`
  return isParked(state) ? `it is parked, and takes no ${input}` : `it takes no ${input} now`
}
