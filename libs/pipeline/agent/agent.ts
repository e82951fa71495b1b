/**
 * The agent actor: a whole kind, or one instance of it. The first thing that happens to an agent creates it. The item
 * tells when its phase moved to another agent. `agentProjection` is the agent's row for lists and sweeps.
 */
import { Schema } from "effect"
import type { ActorDefinition, DecisionContext, Projection } from "#actors/definition"
import { type AgentCommand, type AgentDeadline, AgentFact, agentOfId, AgentState, type AgentSummary } from "#contracts"
import { benchConcern } from "./bench.ts"
import { decided, type Deciders, type Decision, type Evolvers } from "./concern.ts"
import { toEvents } from "./events.ts"
import { holdsConcern, standingOf, unheardOf } from "./holds.ts"

/** Null: nothing has happened to an agent of that id yet; it takes work. */
export const agent: ActorDefinition<AgentState | null, AgentCommand, AgentFact> = {
  entity: "agent",
  state: Schema.NullOr(AgentState),
  fact: AgentFact,
  initial: null,
  stateVersion: 1,
  decide: (state, command, context) =>
    (deciders[command._tag] as Decide)(state ?? unheardOf(context.atMs), command, context),
  evolve: (state, fact, context) => {
    const known = state ?? unheardOf(context.atMs)
    return { ...known, ...(evolvers[fact._tag] as Evolve)(known, fact, context), updatedAtMs: context.atMs }
  },
  toEvents: (state, fact, context) => toEvents(state ?? unheardOf(context.atMs), fact, context)
}

// A member of a union and its own function are of one tag; the compiler cannot tell that of two looked up apart.
type Decide = (agent: AgentState, command: AgentCommand, context: DecisionContext) => Decision
type Evolve = (agent: AgentState, fact: AgentFact, context: DecisionContext) => Partial<AgentState>

const deciders: Deciders = {
  ...benchConcern.commands,
  ...holdsConcern.commands,
  // Each makes an event; a repeated report has the command id of the first.
  FailSession: (_agent, { _tag, ...failure }) => decided({ _tag: "SessionFailed", ...failure })
}

const evolvers: Evolvers = {
  ...benchConcern.evolve,
  ...holdsConcern.evolve,
  SessionFailed: () => ({})
}

/** By what keeps it from new work, as last heard of. */
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
