/** Whether an agent takes new work, and what keeps it from it. */
import { type AgentPause, type AgentStanding, type AgentState, type Hold, isoTime } from "#contracts"

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

type Held = Pick<AgentState, "pause" | "bench" | "quota">

/**
 * All that keeps it from new work, each by its own cause. A pause whose time is over, and a quota whose reset has come,
 * hold nobody, even if nobody has told the agent yet. Of an instance its kind is to be asked too.
 */
export const agentHolds = ({ pause, bench, quota }: Held, nowMs: number): ReadonlyArray<Hold> => {
  const holds: Array<Hold> = []
  const untilOf = (epochMs: number | null) => (epochMs === null ? null : isoTime(epochMs))
  if (pause !== null && !isExpired(pause, nowMs)) {
    const { reason, pausedBy, pausedAtMs, expiresAtMs } = pause
    holds.push({ cause: "manual", reason, pausedBy, since: isoTime(pausedAtMs), until: untilOf(expiresAtMs) })
  }
  if (bench !== null) {
    holds.push({ cause: "bench", reason: bench.reason, pausedBy: null, since: isoTime(bench.sinceMs), until: null })
  }
  if (quota !== null && (quota.resetAtMs === null || quota.resetAtMs > nowMs)) {
    const { hitAtMs, resetAtMs } = quota
    const reason = "its quota is used up"
    holds.push({ cause: "quota", reason, pausedBy: null, since: isoTime(hitAtMs), until: untilOf(resetAtMs) })
  }
  return holds
}

const standings = { manual: "Paused", bench: "Benched", quota: "QuotaExhausted", budget: undefined } as const

/** The first of what keeps it from new work; nothing, if it takes some. */
export const agentHold = (agent: Held | null, nowMs: number): Exclude<AgentStanding, "Available"> | undefined => {
  const [first] = agent === null ? [] : agentHolds(agent, nowMs)
  return first === undefined ? undefined : standings[first.cause]
}

/** As last heard of, whatever the time is. */
export const standingOf = ({ pause, bench, quota }: AgentState): AgentStanding => {
  if (pause !== null) return "Paused"
  if (bench !== null) return "Benched"
  return quota === null ? "Available" : "QuotaExhausted"
}
