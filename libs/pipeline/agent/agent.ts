/**
 * The agent actor: of a whole kind, or of one instance of it. An agent comes to be known by what first happens to it.
 * Pure; what is chance or comes from outside is in the command, and the time is the record's. That a phase moved to
 * another agent is told by the item it was of.
 */
import { Schema } from "effect"
import type { ActorDefinition, DecisionContext } from "#actors/definition"
import { type AgentCommand, AgentFact, AgentState } from "#contracts"
import { toEvents } from "./events.ts"
import { benchDeciders, benchEvolvers } from "./bench.ts"
import { type Deciders, decided, type Decision, type Evolvers } from "./decisions.ts"
import { pauseDeciders, pauseEvolvers } from "./pauses.ts"
import { quotaDeciders, quotaEvolvers } from "./quotas.ts"
import { restoreDeciders, restoreEvolvers } from "./restores.ts"
import { unheardOf } from "./standing.ts"

const deciders: Deciders = {
  ...benchDeciders,
  ...pauseDeciders,
  ...quotaDeciders,
  ...restoreDeciders,
  // Each is told; a report that comes twice has the command id of the first.
  FailSession: (_agent, { _tag, ...failure }) => decided({ _tag: "SessionFailed", ...failure })
}

const evolvers: Evolvers = {
  ...benchEvolvers,
  ...pauseEvolvers,
  ...quotaEvolvers,
  ...restoreEvolvers,
  SessionFailed: () => ({})
}

// A member of a union and its own function are of one tag; the compiler cannot tell that of two looked up apart.
type Decide = (agent: AgentState, command: AgentCommand, context: DecisionContext) => Decision
type Evolve = (agent: AgentState, fact: AgentFact, context: DecisionContext) => Partial<AgentState>

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
