/**
 * What holds an agent back from new work: a pause, a bench, or an exhausted quota.
 *
 * An operator pauses an agent for a time, or until it is resumed by hand. Runs in progress continue. A new pause
 * replaces the old one. An expired pause ends before the new one begins, even if no sweep has noticed yet. The item
 * that hit a quota reports it. The advice to spend banked quota is issued once per optimal window, followed by a
 * cooldown.
 */
import type { AgentPause, AgentStatus, AgentState } from "#pipeline/contract"
import { type Hold, isoTime } from "#base"
import { type Concern, decided, nothing, refused } from "./concern.ts"

export const holdsConcern = {
  commands: {
    Pause: (agent, { reason, pausedBy, expiresAtMs }, { atMs }) => {
      if (expiresAtMs !== null && expiresAtMs <= atMs) {
        return refused(statusOf(agent), "the pause would be over before it began")
      }
      const { pause } = agent
      const paused = { _tag: "Paused", reason, pausedBy, expiresAtMs } as const
      if (pause === null) return decided(paused)
      if (isExpired(pause, atMs)) return decided(expired, paused)
      const isSame = pause.reason === reason && pause.pausedBy === pausedBy && pause.expiresAtMs === expiresAtMs
      return isSame ? nothing : decided(paused)
    },
    Resume: ({ pause }, { resumedBy, reason }) =>
      pause === null ? nothing : decided({ _tag: "Resumed", resumedBy, reason }),
    ExpirePause: ({ pause }, _command, { atMs }) =>
      pause !== null && isExpired(pause, atMs) ? decided(expired) : nothing,
    HitQuota: ({ quota }, { occurredAtMs: hitAtMs, resetAtMs }, { atMs }) => {
      if (resetAtMs !== null && resetAtMs <= atMs) return nothing
      const isKnown = quota !== null && (quota.resetAtMs === resetAtMs || quota.hitAtMs > hitAtMs)
      return isKnown ? nothing : decided({ _tag: "QuotaHit", hitAtMs, resetAtMs })
    },
    ResetQuota: ({ quota }, { isForced }, { atMs }) => {
      if (quota === null) return nothing
      return isForced || (quota.resetAtMs !== null && quota.resetAtMs <= atMs)
        ? decided({ _tag: "QuotaReset" })
        : nothing
    },
    AdviseSpending: ({ advice }, { _tag, cooldownMs, ...advised }, { atMs }) => {
      if (advised.optimalUntilMs <= atMs) return nothing
      if (advice !== null && (advice.optimalUntilMs === advised.optimalUntilMs || atMs < advice.quietUntilMs)) {
        return nothing
      }
      return decided({ _tag: "SpendingAdvised", ...advised, quietUntilMs: atMs + cooldownMs })
    }
  },
  evolve: {
    Paused: (_agent, { _tag, ...pause }, { atMs }) => ({ pause: { ...pause, pausedAtMs: atMs } }),
    Resumed: () => ({ pause: null }),
    QuotaHit: (_agent, { hitAtMs, resetAtMs }) => ({ quota: { hitAtMs, resetAtMs } }),
    QuotaReset: () => ({ quota: null }),
    SpendingAdvised: (_agent, { optimalUntilMs, quietUntilMs }) => ({ advice: { optimalUntilMs, quietUntilMs } })
  }
} satisfies Concern

/** The state of an agent that nothing has happened to. */
export const initialAgent = (atMs: number): AgentState => ({
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

const isExpired = ({ expiresAtMs }: AgentPause, nowMs: number): boolean => expiresAtMs !== null && expiresAtMs <= nowMs

type AgentCauses = Pick<AgentState, "pause" | "bench" | "quota">

/**
 * Every hold of the agent, each with its own cause. An expired pause, and a quota whose reset has come, do not hold,
 * even if no command has told the agent yet. For an instance, the caller checks its kind as well.
 */
export const agentHolds = ({ pause, bench, quota }: AgentCauses, nowMs: number): ReadonlyArray<Hold> => {
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

/** The agent's first hold; undefined if it takes work. */
export const agentHold = (agent: AgentCauses | null, nowMs: number): Exclude<AgentStatus, "Available"> | undefined => {
  const [first] = agent === null ? [] : agentHolds(agent, nowMs)
  return first === undefined ? undefined : standings[first.cause]
}

/** The standing as last reported, ignoring expiry. */
export const statusOf = ({ pause, bench, quota }: AgentState): AgentStatus => {
  if (pause !== null) return "Paused"
  if (bench !== null) return "Benched"
  return quota === null ? "Available" : "QuotaExhausted"
}

const expired = { _tag: "Resumed", resumedBy: "expiry", reason: "the time of the pause is over" } as const
