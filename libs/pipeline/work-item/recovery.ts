/**
 * Crashes and shutdowns. A dead worker's item goes back to the state in which its phase waits for a runner; at a phase
 * boundary it stays where it is. Every crash costs an attempt and makes an event, even the one after which the item is
 * abandoned. An orderly shutdown of a host costs none: the item goes back, and its iterations are renumbered.
 */
import type { WorkItemFactOf, WorkItemState } from "#pipeline/contract"
import { type Concern, decided, type Decision, itemEvent, nothing, silent } from "./concern.ts"
import { phaseOf, readyFor, readyState, undispatched } from "./states.ts"

export const recovery = {
  commands: {
    Recover: (item, { reason, dispatchId }) => {
      // The dead worker's dispatch is already over.
      if (dispatchId !== null && dispatchId !== item.dispatch?.dispatchId) return nothing
      // An item that waits for its delegation can be waiting for people.
      if (item.state === "Delegated" && item.dispatch === null) return nothing
      return recovering(item, reason)
    }
  },
  reports: {
    "agent-died": (item) => recovering(item, "dead worker detected"),
    preempted: () => decided({ _tag: "Preempted" })
  },
  evolve: {
    Recovered: (item, { toState, recoveryAttempt, reason }, { atMs }) => ({
      ...undispatched(toState),
      phase: phaseOf(item),
      recoveryAttempts: recoveryAttempt,
      lastError: reason,
      endedAtMs: toState === abandoned ? atMs : null
    }),
    Preempted: (item) => {
      const phase = phaseOf(item)
      const isNumbered = phase === "work" || phase === "rework" || phase === "audit"
      return isNumbered
        ? { ...undispatched("Queued"), phase, run: item.run + 1, auditedIterations: 0 }
        : readyFor(phase)
    }
  },
  events: {
    Recovered: (item, { _tag, ...details }, context) => [
      itemEvent(item, context, {
        event: "work_item.recovered",
        details: {
          workItemId: context.id,
          projectId: item.projectId,
          ...details
        }
      })
    ],
    Preempted: silent
  }
} satisfies Concern

const abandoned = "AbandonedAfterRecoveryAttempts"

const recovering = (item: WorkItemState, reason: WorkItemFactOf<"Recovered">["reason"]): Decision => {
  const maxRecoveryAttempts = item.settings.maxRecoveryAttempts
  const recoveryAttempt = item.recoveryAttempts + 1
  const handedBackTo = item.dispatch === null ? item.state : readyState[item.dispatch.phase]
  return decided({
    _tag: "Recovered",
    fromState: item.state,
    toState: recoveryAttempt > maxRecoveryAttempts ? abandoned : handedBackTo,
    reason,
    recoveryAttempt,
    maxRecoveryAttempts
  })
}
