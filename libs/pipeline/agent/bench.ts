/**
 * The bench: an unfit agent gets no work until a probe finds it fit or an operator restores it. A credential probe, a
 * pickup, a login prompt or the breaker finds it unfit. Another event follows when the reason changes, when the probing
 * process restarts, and for every item that the agent fails. Failures from before its recovery are ignored. Once the
 * agent is back, a follower of the log checks the items that failed in the outage, if its start is known, and reports
 * once how many it requeued.
 */
import { type AgentBench, type AgentCommandOf, type AgentFact, type AgentState, fastFailsMax } from "#pipeline/contract"
import { type Concern, decided, nothing, refused } from "./concern.ts"
import { statusOf } from "./holds.ts"

export const benchConcern = {
  commands: {
    FailSmoke: (agent, command) => {
      const isBenching = !isLate(agent, command.occurredAtMs)
      const isAboutAgentOnly = command.item === null
      if (isAboutAgentOnly && (!isBenching || (agent.bench !== null && isKnown(agent.bench, command)))) return nothing
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
        return refused(statusOf(agent), "the outage has not begun yet")
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

const isKnown = (bench: AgentBench, failure: AgentCommandOf<"FailSmoke">) =>
  failure.occurredAtMs < bench.occurredAtMs ||
  (bench.reason === failure.reason &&
    bench.category === failure.category &&
    (failure.epoch === null || failure.epoch === bench.epoch))
