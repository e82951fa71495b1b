/** The pickup queue and agents in the API's form: from their state, or for lists from their row. Pure. */
import {
  type AgentBench,
  agentOfId,
  type AgentPause,
  type AgentState,
  type Hold,
  isoTime,
  type QueueState
} from "#contracts"
import type { AgentView, QueueView } from "#contracts/pipeline-api"
import { agentHold, agentHolds } from "#pipeline"
import { maybeTime, type SeenAgent } from "./rows.ts"

/** `agent` null: it has no state yet. */
export const agentView = (
  id: string,
  agent: AgentState | null,
  { sequence, nowMs }: { readonly sequence: number; readonly nowMs: number }
): AgentView => ({
  ...namesOf(id),
  state: agentHold(agent, nowMs) ?? "Available",
  holds: agent === null ? [] : agentHolds(agent, nowMs),
  pause: pauseOf(agent?.pause ?? null),
  bench: benchOf(agent?.bench ?? null),
  quotaResetAt: maybeTime(agent?.quota?.resetAtMs ?? null),
  sequence
})

export const agentRow = (row: SeenAgent, nowMs: number): AgentView => {
  const { id, sequence, summary } = row
  const { pause, bench, quotaResetAtMs } = summary
  const held = { pause, bench, quota: quotaOf(row) }
  return {
    ...namesOf(id),
    state: agentHold(held, nowMs) ?? "Available",
    holds: agentHolds(held, nowMs),
    pause: pauseOf(pause),
    bench: benchOf(bench),
    quotaResetAt: maybeTime(quotaResetAtMs),
    sequence
  }
}

const quotaOf = ({ summary, updatedAtMs }: SeenAgent): AgentState["quota"] =>
  summary.isQuotaExhausted ? { hitAtMs: summary.quotaHitAtMs ?? updatedAtMs, resetAtMs: summary.quotaResetAtMs } : null

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

/** `queue` null: it has never been paused. */
export const queueView = (queue: QueueState | null, sequence: number): QueueView => {
  const pause = queue?.pause ?? null
  return {
    state: pause === null ? "Running" : "Paused",
    holds: pause === null ? [] : [holdOf(pause)],
    reason: pause?.reason ?? null,
    pausedBy: pause?.pausedBy ?? null,
    pausedAt: maybeTime(pause?.pausedAtMs ?? null),
    sequence
  }
}

const holdOf = ({ reason, pausedBy, pausedAtMs }: NonNullable<QueueState["pause"]>): Hold => ({
  cause: "manual",
  reason,
  pausedBy,
  since: isoTime(pausedAtMs),
  until: null
})
