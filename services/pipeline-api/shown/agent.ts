/** An agent, or an instance of one, as the API shows it: from its state, or for lists from its row. Pure. */
import type { ViewRow } from "#actor"
import {
  type AgentBench,
  agentOfId,
  type AgentPause,
  type AgentState,
  type AgentSummary,
  type AgentView,
  isoTime
} from "#contracts"
import { holdOf } from "../agent/index.ts"
import { maybeTime } from "./values.ts"

/** `agent` null: nothing has happened to it. */
export const agentView = (id: string, agent: AgentState | null, sequence: number, nowMs: number): AgentView => ({
  ...namesOf(id),
  state: holdOf(agent, nowMs) ?? "Available",
  pause: pauseOf(agent?.pause ?? null),
  bench: benchOf(agent?.bench ?? null),
  quotaResetAt: maybeTime(agent?.quota?.resetAtMs ?? null),
  sequence
})

export const agentRow = ({ id, state, sequence, summary }: ViewRow): AgentView => {
  // The row is made by this role's own viewer.
  const { pause, bench, quotaResetAtMs } = summary as unknown as AgentSummary
  return {
    ...namesOf(id),
    state: state as AgentView["state"],
    pause: pauseOf(pause),
    bench: benchOf(bench),
    quotaResetAt: maybeTime(quotaResetAtMs),
    sequence
  }
}

const namesOf = (id: string) => {
  const { agentKind, agentInstanceId } = agentOfId(id)
  return { agent: agentKind, agentInstanceId }
}

const pauseOf = (pause: AgentPause | null): AgentView["pause"] =>
  pause === null
    ? null
    : {
        reason: pause.reason,
        pausedBy: pause.pausedBy,
        pausedAt: isoTime(pause.pausedAtMs),
        expiresAt: maybeTime(pause.expiresAtMs)
      }

const benchOf = (bench: AgentBench | null): AgentView["bench"] =>
  bench === null
    ? null
    : { cause: bench.cause, reason: bench.reason, category: bench.category, since: isoTime(bench.sinceMs) }
