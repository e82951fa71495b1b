/** Whether an agent takes new work, and what keeps it from it. */
import type { AgentPause, AgentStanding, AgentState } from "#contracts"

/** Of an agent that nothing has happened to. */
export const unheardOf = (atMs: number): AgentState => ({
  createdAtMs: atMs,
  updatedAtMs: atMs,
  pause: null,
  bench: null,
  recoveredAtMs: null,
  restore: null,
  sweptRestoreAtMs: null,
  quota: null,
  fastFailsMs: [],
  advice: null
})

export const isExpired = ({ expiresAtMs }: AgentPause, nowMs: number): boolean =>
  expiresAtMs !== null && expiresAtMs <= nowMs

/**
 * What keeps it from new work; nothing, if it takes some. A pause whose time is over, and a quota whose reset has
 * come, hold nobody, even if nobody has told the agent yet. Of an instance its kind is to be asked too.
 */
export const holdOf = (agent: AgentState | null, nowMs: number): Exclude<AgentStanding, "Available"> | undefined => {
  if (agent === null) return undefined
  if (agent.pause !== null && !isExpired(agent.pause, nowMs)) return "Paused"
  if (agent.bench !== null) return "Benched"
  const { quota } = agent
  return quota !== null && (quota.resetAtMs === null || quota.resetAtMs > nowMs) ? "QuotaExhausted" : undefined
}

/** As last heard of, whatever the time is. */
export const standingOf = ({ pause, bench, quota }: AgentState): AgentStanding => {
  if (pause !== null) return "Paused"
  if (bench !== null) return "Benched"
  return quota === null ? "Available" : "QuotaExhausted"
}
