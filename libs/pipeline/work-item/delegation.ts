/**
 * Delegation: the item is handed to somebody more able, by an operator or by itself: when its audit does not
 * converge, or when it has failed for good too often. By itself that happens once, so that two ways of failing cannot
 * pass an item to and fro without end. Numbering begins again with it.
 */
import type { WorkItemFactOf, WorkItemState } from "#contracts"
import { type EventsByFact, type CommandDeciders, decided, type Evolvers, refused } from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { readyFor } from "./phases.ts"

type Trigger = WorkItemFactOf<"Delegated">["trigger"]

/** The item delegates itself. */
export const escalation = (
  item: WorkItemState,
  trigger: Exclude<Trigger, "operator">,
  reason: string
): WorkItemFactOf<"Delegated"> => delegated(item, trigger, reason, null)

const delegated = (
  item: WorkItemState,
  trigger: Trigger,
  reason: string,
  note: string | null
): WorkItemFactOf<"Delegated"> => ({
  _tag: "Delegated",
  trigger,
  priorState: item.state,
  reason,
  note,
  terminalFailureCount: item.terminalFailures,
  isAutoEscalated: trigger !== "operator"
})

export const delegationDeciders = {
  Delegate: (item, { trigger, reason, note }) => {
    const { delegatesAfterFailures: failuresMin } = item.settings
    if (trigger === "audit-max-iterations" && item.state !== "AuditFailed") {
      return refused(item, "its audit has not failed")
    }
    if (trigger === "repeated-terminal-failure") {
      if (item.state !== "Failed") return refused(item, "it has not failed")
      if (item.terminalFailures < (failuresMin ?? Infinity)) return refused(item, "it has not failed often enough")
    }
    return decided(delegated(item, trigger, reason, note))
  }
} satisfies Partial<CommandDeciders>

export const delegationEvolvers = {
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
} satisfies Partial<Evolvers>

export const delegationEvents = {
  Delegated: (item, { _tag, isAutoEscalated, ...details }, context) => [
    itemEvent(item, context, "work_item.delegated", { ...details, autoEscalated: isAutoEscalated })
  ]
} satisfies Partial<EventsByFact>
