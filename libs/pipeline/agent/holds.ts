/**
 * Three things hold an agent back from new work: a pause, a bench, and a quota that is used up.
 *
 * An operator pauses an agent for a time, or until somebody resumes it. Runs in hand go on. A new pause replaces the
 * old one. A pause whose time is over ends before the new one begins, even if no sweep has noticed yet.
 *
 * The item that met a quota reports it. The advice to spend banked quota goes out once for each optimal window, and
 * then rests for a while.
 *
 * An unfit agent is benched until a probe finds it fit or an operator restores it. A probe of its credentials, a
 * pickup, a login prompt or the breaker finds it unfit. Another event follows when the reason changes, when the probing
 * process starts anew, and for every item that meets the agent. Failures from before its recovery are ignored.
 *
 * Once the agent is back, a follower of the log checks the items that failed in the outage, if its start is known, and
 * reports once how many it queued again.
 */
import {
  type AgentBench,
  type AgentCommandOf,
  type AgentFact,
  type AgentPause,
  type AgentStanding,
  type AgentState,
  fastFailsMax
} from "#pipeline/contract"
import { type Hold, isoTime } from "#base"
import { type Concern, decided, nothing, refused } from "./concern.ts"

export const holdsConcern = {
  commands: {
    Pause: (agent, { reason, pausedBy, expiresAtMs }, { atMs }) => {
      if (expiresAtMs !== null && expiresAtMs <= atMs) {
        return refused(standingOf(agent), "the pause would be over before it began")
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

const isExpired = ({ expiresAtMs }: AgentPause, nowMs: number): boolean => expiresAtMs !== null && expiresAtMs <= nowMs

type Held = Pick<AgentState, "pause" | "bench" | "quota">

/**
 * Every hold of the agent, each with its own cause. A pause whose time is over, and a quota whose reset has come, do
 * not hold, even if no command has told the agent yet. For an instance, the caller checks its kind as well.
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

/** The agent's first hold; undefined if it takes work. */
export const agentHold = (agent: Held | null, nowMs: number): Exclude<AgentStanding, "Available"> | undefined => {
  const [first] = agent === null ? [] : agentHolds(agent, nowMs)
  return first === undefined ? undefined : standings[first.cause]
}

/** The standing as last reported, whatever the time is. */
export const standingOf = ({ pause, bench, quota }: AgentState): AgentStanding => {
  if (pause !== null) return "Paused"
  if (bench !== null) return "Benched"
  return quota === null ? "Available" : "QuotaExhausted"
}

const expired = { _tag: "Resumed", resumedBy: "expiry", reason: "the time of the pause is over" } as const

export const benchConcern = {
  commands: {
    FailSmoke: (agent, command) => {
      const isBenching = !isLate(agent, command.occurredAtMs)
      const isAboutAgentAlone = command.item === null
      if (isAboutAgentAlone && (!isBenching || (agent.bench !== null && isKnown(agent.bench, command)))) return nothing
      return decided({ ...command, _tag: "SmokeFailed", isBenching })
    },
    FailFast: (agent, { failuresMax, windowMs, reason, occurredAtMs, item }) => {
      if (agent.bench !== null || isLate(agent, occurredAtMs)) return nothing
      const inWindow = agent.fastFailsMs.filter((failedAtMs) => Math.abs(occurredAtMs - failedAtMs) < windowMs)
      const failed: AgentFact = { _tag: "FailedFast", occurredAtMs, reason }
      if (inWindow.length + 1 < failuresMax) return decided(failed)
      return decided(failed, {
        _tag: "SmokeFailed",
        cause: "fast-fail",
        reason: reason ?? `${failuresMax} runs ended too fast within ${windowMs} ms`,
        category: "Unknown",
        occurredAtMs,
        item,
        epoch: null,
        isBenching: true
      })
    },
    PassSmoke: (agent, { occurredAtMs }) => {
      const { bench } = agent
      if (bench === null || occurredAtMs < bench.occurredAtMs) return nothing
      return decided(...recovered(agent, occurredAtMs, "probe"), {
        _tag: "Restored",
        outageStartedAtMs: bench.sinceMs,
        restoredAtMs: occurredAtMs,
        restoredBy: null
      })
    },
    Restore: (agent, { restoredBy, outageStartedAtMs }, { atMs }) => {
      if (outageStartedAtMs !== null && outageStartedAtMs > atMs) {
        return refused(standingOf(agent), "the outage has not begun yet")
      }
      return decided(...recovered(agent, atMs, "operator"), {
        _tag: "Restored",
        outageStartedAtMs: outageStartedAtMs ?? agent.bench?.sinceMs ?? null,
        restoredAtMs: atMs,
        restoredBy
      })
    },
    CompleteRestoreSweep: ({ sweptRestoreAtMs }, { _tag, ...sweep }) =>
      sweptRestoreAtMs !== null && sweep.restoredAtMs <= sweptRestoreAtMs
        ? nothing
        : decided({ _tag: "RestoreSwept", ...sweep })
  },
  evolve: {
    SmokeFailed: ({ bench }, { _tag, isBenching, item: _item, ...failure }) => ({
      bench: isBenching ? benched(bench, failure) : bench
    }),
    FailedFast: ({ fastFailsMs }, { occurredAtMs }) => ({
      fastFailsMs: [...fastFailsMs, occurredAtMs].slice(-fastFailsMax)
    }),
    SmokeRecovered: (_agent, { recoveredAtMs }) => ({ bench: null, recoveredAtMs, fastFailsMs: [] }),
    Restored: (_agent, { outageStartedAtMs, restoredAtMs }) => ({ restore: { outageStartedAtMs, restoredAtMs } }),
    RestoreSwept: ({ restore }, { restoredAtMs }) => ({
      sweptRestoreAtMs: restoredAtMs,
      restore: restore !== null && restore.restoredAtMs <= restoredAtMs ? null : restore
    })
  }
} satisfies Concern

const isLate = ({ recoveredAtMs }: AgentState, occurredAtMs: number) =>
  recoveredAtMs !== null && occurredAtMs <= recoveredAtMs

const isKnown = (bench: AgentBench, failure: AgentCommandOf<"FailSmoke">) =>
  failure.occurredAtMs < bench.occurredAtMs ||
  (bench.reason === failure.reason &&
    bench.category === failure.category &&
    (failure.epoch === null || failure.epoch === bench.epoch))

/** An outage begins with its first known failure. */
const benched = (bench: AgentBench | null, failure: Omit<AgentBench, "sinceMs">): AgentBench =>
  bench === null
    ? { ...failure, sinceMs: failure.occurredAtMs }
    : {
        ...failure,
        sinceMs: Math.min(bench.sinceMs, failure.occurredAtMs),
        occurredAtMs: Math.max(bench.occurredAtMs, failure.occurredAtMs),
        epoch: failure.epoch ?? bench.epoch
      }

const recovered = ({ bench }: AgentState, recoveredAtMs: number, by: "probe" | "operator"): ReadonlyArray<AgentFact> =>
  bench === null ? [] : [{ _tag: "SmokeRecovered", benchedAtMs: bench.sinceMs, recoveredAtMs, by }]
