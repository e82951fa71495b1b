/**
 * An agent is back: which items may its absence have failed? Those that failed at its hands, for want of the agent and
 * not by their own fault, while it was away. Without a known beginning of the outage there are none. Pure.
 */
import { type FailureKind, type WorkItemCommandOf, encodeToken } from "#contracts"
import type { PlannedCommand } from "../planned-command.ts"
import type { SeenAgent, SeenWorkItem } from "../view-summaries.ts"

export interface Restore {
  /** The agent's row. */
  readonly agent: SeenAgent
  readonly outageStartedAtMs: number | null
  readonly restoredAtMs: number
}

// Failures that are the agent's absence; the actor has the last word.
const infraFailures: ReadonlySet<FailureKind> = new Set(["infra", "auth", "quota", "transient"])

export const restoresDue = (agents: ReadonlyArray<SeenAgent>): ReadonlyArray<Restore> =>
  agents.flatMap((agent) => (agent.summary.restore === null ? [] : [{ agent, ...agent.summary.restore }]))

export interface Affected {
  /** Oldest failure first. */
  readonly workItemIds: ReadonlyArray<string>
  /** Failed at the agent's hands while it was away, but by their own fault. */
  readonly skipped: number
}

export const affectedItems = (
  failed: ReadonlyArray<SeenWorkItem>,
  { agent, outageStartedAtMs, restoredAtMs }: Restore
): Affected => {
  if (outageStartedAtMs === null) return { workItemIds: [], skipped: 0 }
  const { agentKind } = agent.summary
  const endedAtMs = ({ deadlinesMs }: SeenWorkItem) => deadlinesMs["ended"] ?? 0
  const inOutage = failed
    .filter(({ summary }) => (summary.failedAgent ?? summary.agent) === agentKind)
    .filter((item) => endedAtMs(item) >= outageStartedAtMs && endedAtMs(item) <= restoredAtMs)
  const workItemIds = inOutage
    .filter(({ summary: { failureKind } }) => failureKind !== null && infraFailures.has(failureKind))
    .toSorted((left, right) => endedAtMs(left) - endedAtMs(right))
    .map(({ id }) => id)
  return { workItemIds, skipped: inOutage.length - workItemIds.length }
}

/** The command's id is the restore's: asked again after a crash, an item is not queued a second time. */
export const requeueCommands = (
  workItemIds: ReadonlyArray<string>,
  { agent, outageStartedAtMs, restoredAtMs }: Restore
): ReadonlyArray<PlannedCommand> => {
  const command: WorkItemCommandOf<"AgentRestoreRequeue"> = {
    _tag: "AgentRestoreRequeue",
    restoredAgent: agent.summary.agentKind,
    outageStartedAtMs,
    restoredAtMs
  }
  return workItemIds.map((id) => ({
    entity: "workitem",
    id,
    commandId: `sweep.restore.${restoredAtMs}`,
    command,
    finding: "restored-item"
  }))
}

/** Of the mark that says which items a restore is about. */
export const restoreKey = ({ agent }: Restore): string => `restore.${encodeToken(agent.id)}`
