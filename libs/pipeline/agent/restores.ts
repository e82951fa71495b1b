/**
 * An agent that is back: a probe found it fit, or an operator says so. Whoever follows the log looks then through the
 * items that failed in the outage, if it is known when that began, and reports once how many were queued again.
 */
import type { AgentFact, AgentState } from "#contracts"
import { type Deciders, decided, type Evolvers, nothing, refused } from "./decisions.ts"
import { standingOf } from "./standing.ts"

const recovered = ({ bench }: AgentState, recoveredAtMs: number, by: "probe" | "operator"): ReadonlyArray<AgentFact> =>
  bench === null ? [] : [{ _tag: "SmokeRecovered", benchedAtMs: bench.sinceMs, recoveredAtMs, by }]

export const restoreDeciders = {
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
} satisfies Partial<Deciders>

export const restoreEvolvers = {
  SmokeRecovered: (_agent, { recoveredAtMs }) => ({ bench: null, recoveredAtMs, fastFailsMs: [] }),
  Restored: (_agent, { outageStartedAtMs, restoredAtMs }) => ({ restore: { outageStartedAtMs, restoredAtMs } }),
  RestoreSwept: ({ restore }, { restoredAtMs }) => ({
    sweptRestoreAtMs: restoredAtMs,
    restore: restore !== null && restore.restoredAtMs <= restoredAtMs ? null : restore
  })
} satisfies Partial<Evolvers>
