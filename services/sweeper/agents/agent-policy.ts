/**
 * What is due for agents: a pause whose time is over ends, a quota whose reset has come is there again, and one whose
 * reset nobody knows is tried again after a while. Pure.
 */
import { type PlannedCommand, toAgent } from "../planned-command.ts"
import type { SeenAgent } from "../view-summaries.ts"

export interface AgentTimes {
  readonly nowMs: number
  /** After the reset of a quota, for clocks differ. */
  readonly marginMs: number
  /** For a quota whose reset nobody knows. */
  readonly periodicMs: number
}

export const agentCommandsDue = (agents: ReadonlyArray<SeenAgent>, times: AgentTimes): ReadonlyArray<PlannedCommand> =>
  agents.flatMap((agent) => [...pauseDue(agent, times), ...quotaDue(agent, times)])

const pauseDue = (agent: SeenAgent, { nowMs }: AgentTimes): ReadonlyArray<PlannedCommand> => {
  const expiresAtMs = agent.summary.pause?.expiresAtMs ?? null
  return expiresAtMs !== null && expiresAtMs <= nowMs ? [toAgent(agent, "pause-expired", { _tag: "ExpirePause" })] : []
}

const quotaDue = (agent: SeenAgent, { nowMs, marginMs, periodicMs }: AgentTimes): ReadonlyArray<PlannedCommand> => {
  const { isQuotaExhausted, quotaResetAtMs } = agent.summary
  if (!isQuotaExhausted) return []
  if (quotaResetAtMs === null) {
    return nowMs - agent.updatedAtMs >= periodicMs
      ? [toAgent(agent, "quota-tried", { _tag: "ResetQuota", isForced: true })]
      : []
  }
  return quotaResetAtMs + marginMs <= nowMs
    ? [toAgent(agent, "quota-reset", { _tag: "ResetQuota", isForced: false })]
    : []
}
