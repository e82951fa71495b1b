/**
 * Where each phase stands among the states: the one in which an item waits for a runner of it, and the one in which
 * a runner has it. Three states are both at once; whether somebody has the item, its dispatch tells.
 */
import type { WorkItemDispatch, WorkItemPhase, WorkItemState, WorkItemStateName } from "#contracts"

/** Where an item of that phase waits to be taken, at first and again after every interruption. */
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

/** A runner may take its phase. */
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

/** It waits for something other than a runner. */
export const isParked = (state: WorkItemStateName) => parkedStates.has(state)

/**
 * A phase's number in its run. Audits are counted when they end: the iteration at work, and the audit of it, is the
 * next; what comes after the last audit belongs to the iteration that it passed.
 */
export const iterationOf = (item: WorkItemState, phase: WorkItemPhase | null): number =>
  phase === "work" || phase === "rework" || phase === "audit"
    ? item.auditedIterations + 1
    : Math.max(item.auditedIterations, 1)

/** The item as it waits for that phase again. */
export const readyFor = (phase: WorkItemPhase) => ({ state: readyState[phase], phase, dispatch: null })

/** The item without a runner, in a state that keeps the phase in mind. */
export const standing = (state: WorkItemStateName) => ({ state, dispatch: null })

/** The phase in hand, or else the one in mind. */
export const phaseOf = (item: WorkItemState): WorkItemPhase => item.dispatch?.phase ?? item.phase ?? "work"

/** Who has the phase and, if nobody, who is to have it. */
export const agentOf = (item: WorkItemState, dispatch: WorkItemDispatch | null = item.dispatch) => ({
  fromAgent: dispatch?.agent ?? item.agent,
  fromModel: dispatch?.model ?? null
})
