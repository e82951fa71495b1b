/**
 * How an item fails for good, and what can follow at once. Refused credentials fail the item too; the agent's own actor
 * reports the agent.
 *
 * Delegation hands the item to a more capable agent. An operator delegates it, or the item delegates itself when its
 * audit does not converge or when it has failed for good too often. An item delegates itself only once, so that two
 * ways of failing cannot pass it back and forth forever. Iterations are renumbered after it.
 */
import {
  errorCharactersMax,
  type FailureKind,
  type WorkItemFact,
  type WorkItemFactOf,
  type WorkItemState
} from "#pipeline/contract"
import { type Concern, decided, itemEvent, refused, silent } from "./concern.ts"
import { readyFor, undispatched } from "./states.ts"

export const failures = {
  commands: {
    Delegate: (item, { trigger, reason, note }) => {
      const { delegatesAfterFailures: failuresMin } = item.settings
      if (trigger === "audit-max-iterations" && item.state !== "AuditFailed") {
        return refused(item, "its audit has not failed")
      }
      if (trigger === "repeated-terminal-failure") {
        if (item.state !== "Failed") return refused(item, "it has not failed")
        if (item.terminalFailures < (failuresMin ?? Infinity)) return refused(item, "it has not failed often enough")
      }
      return decided(delegated(item, { trigger, reason, note }))
    }
  },
  reports: {
    failed: (item, { reason, failureKind }) => decided(...failing(item, reason, failureKind)),
    "auth-failed": (item, { reason, category }, { dispatch: { agent, agentInstanceId } }) =>
      decided(
        { _tag: "AuthFailed", agent, agentInstanceId, reason, category },
        ...failing(item, `the agent is not authorised: ${reason}`, "auth")
      )
  },
  evolve: {
    AuthFailed: () => ({}),
    Failed: (item, { error, failureKind, agent }, { atMs }) => ({
      ...undispatched("Failed"),
      endedAtMs: atMs,
      lastError: error,
      failureKind,
      failedAgent: agent,
      terminalFailures: item.terminalFailures + 1
    }),
    Delegated: (item, { isAutoEscalated }) => ({
      ...readyFor("delegation"),
      isAutoEscalated: item.isAutoEscalated || isAutoEscalated,
      run: item.run + 1,
      auditedIterations: 0,
      endedAtMs: null,
      failureKind: null,
      failedAgent: null,
      notBeforeMs: null,
      retryAtMs: null,
      quotaResetAtMs: null,
      openQuestions: []
    })
  },
  events: {
    AuthFailed: silent,
    Failed: (item, _fact, context) => [itemEvent(item, context, { event: "work_item.failed" })],
    Delegated: (item, { _tag, isAutoEscalated, ...details }, context) => [
      itemEvent(item, context, {
        event: "work_item.delegated",
        details: { ...details, autoEscalated: isAutoEscalated }
      })
    ]
  }
} satisfies Concern

type Trigger = WorkItemFactOf<"Delegated">["trigger"]

/** The facts of an unrecoverable failure in the item's current state. */
export const failing = (item: WorkItemState, error: string, failureKind: FailureKind): ReadonlyArray<WorkItemFact> => {
  const agent = item.dispatch?.agent ?? null
  const failed = { _tag: "Failed", error: error.slice(0, errorCharactersMax), failureKind, agent } as const
  const failures = item.terminalFailures + 1
  const failuresMin = item.settings.delegatesAfterFailures
  if (failuresMin === null || failures < failuresMin || item.isAutoEscalated) return [failed]
  const after: WorkItemState = { ...item, state: "Failed", terminalFailures: failures }
  return [
    failed,
    escalation(after, "repeated-terminal-failure", `terminal failures: ${failures}, the last: ${failureKind}`)
  ]
}

/** The item delegates itself. */
export const escalation = (
  item: WorkItemState,
  trigger: Exclude<Trigger, "operator">,
  reason: string
): WorkItemFactOf<"Delegated"> => delegated(item, { trigger, reason, note: null })

const delegated = (
  item: WorkItemState,
  { trigger, reason, note }: Pick<WorkItemFactOf<"Delegated">, "trigger" | "reason" | "note">
): WorkItemFactOf<"Delegated"> => ({
  _tag: "Delegated",
  trigger,
  priorState: item.state,
  reason,
  note,
  terminalFailureCount: item.terminalFailures,
  isAutoEscalated: trigger !== "operator"
})
