/**
 * How an item fails for good, and what may come right after: where the project wants it, an item that failed too
 * often delegates itself. Credentials that are refused fail the item too; of the agent, its own actor tells.
 */
import { errorCharactersMax, type FailureKind, type WorkItemFact, type WorkItemState } from "#contracts"
import { type EventsByFact, decided, type Evolvers, type InHandDeciders, silent } from "./decisions.ts"
import { escalation } from "./delegation.ts"
import { itemEvent } from "./envelope.ts"
import { standing } from "./phases.ts"

/** The facts of an unrecoverable failure of the item as it stands. */
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

export const failureDeciders = {
  failed: (item, { reason, failureKind }) => decided(...failing(item, reason, failureKind)),
  "auth-failed": (item, { reason, category }, { agent, agentInstanceId }) =>
    decided(
      { _tag: "AuthFailed", agent, agentInstanceId, reason, category },
      ...failing(item, `the agent is not authorised: ${reason}`, "auth")
    )
} satisfies Partial<InHandDeciders>

export const failureEvolvers = {
  AuthFailed: () => ({}),
  Failed: (item, { error, failureKind, agent }, { atMs }) => ({
    ...standing("Failed"),
    endedAtMs: atMs,
    lastError: error,
    failureKind,
    failedAgent: agent,
    terminalFailures: item.terminalFailures + 1
  })
} satisfies Partial<Evolvers>

export const failureEvents = {
  AuthFailed: silent,
  Failed: (item, _fact, context) => [itemEvent(item, context, "work_item.failed")]
} satisfies Partial<EventsByFact>
