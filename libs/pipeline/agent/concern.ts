/** The shape of a concern: the commands that it decides, and what its facts make of the state. */
import { Result } from "effect"
import { type DecisionContext, Refusal } from "#actors/definition"
import type {
  AgentCommandOf,
  AgentCommandTag,
  AgentFact,
  AgentFactOf,
  AgentFactTag,
  AgentStatus,
  AgentState
} from "#pipeline/contract"

export type Decision = Result.Result<ReadonlyArray<AgentFact>, Refusal>

export type Deciders = {
  readonly [Tag in AgentCommandTag]: (
    agent: AgentState,
    command: AgentCommandOf<Tag>,
    context: DecisionContext
  ) => Decision
}
export type Evolvers = {
  readonly [Tag in AgentFactTag]: (
    agent: AgentState,
    fact: AgentFactOf<Tag>,
    context: DecisionContext
  ) => Partial<AgentState>
}

/** One topic in the life of an agent. The actor is all of them together. */
export interface Concern {
  readonly commands: Partial<Deciders>
  readonly evolve: Partial<Evolvers>
}

export const decided = (...facts: ReadonlyArray<AgentFact>): Decision => Result.succeed(facts)

/** The decision on a late or repeated command: it changes nothing. */
export const nothing: Decision = decided()

export const refused = (state: AgentStatus, reason: string): Decision => Result.fail(new Refusal({ state, reason }))
