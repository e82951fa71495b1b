/** An agent as lists and sweeps see it: by what keeps it from new work, as last heard of. */
import { Schema } from "effect"
import type { Projection } from "#actors/definition"
import { type AgentDeadline, agentOfId, AgentState, type AgentSummary } from "#contracts"
import { standingOf } from "./standing.ts"

export const agentProjection: Projection<AgentState | null> = {
  entity: "agent",
  state: Schema.NullOr(AgentState),
  show: (agent, id) =>
    agent === null
      ? undefined
      : {
          project: null,
          state: standingOf(agent),
          createdAtMs: agent.createdAtMs,
          updatedAtMs: agent.updatedAtMs,
          deadlinesMs: deadlinesOf(agent),
          summary: { ...summaryOf(agent, id) }
        }
}

const deadlinesOf = ({ pause, quota, restore }: AgentState): Readonly<Record<string, number>> => {
  const deadlines: Record<AgentDeadline, number | null> = {
    pauseExpires: pause?.expiresAtMs ?? null,
    quotaResets: quota?.resetAtMs ?? null,
    restored: restore?.restoredAtMs ?? null
  }
  return Object.fromEntries(Object.entries(deadlines).filter((entry): entry is [string, number] => entry[1] !== null))
}

const summaryOf = ({ pause, bench, quota, restore, fastFailsMs }: AgentState, id: string): AgentSummary => ({
  ...agentOfId(id),
  pause,
  bench,
  quotaResetAtMs: quota?.resetAtMs ?? null,
  quotaHitAtMs: quota?.hitAtMs ?? null,
  isQuotaExhausted: quota !== null,
  restore,
  fastFails: fastFailsMs.length
})
