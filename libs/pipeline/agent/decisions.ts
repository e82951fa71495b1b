/** The shapes that every concern of an agent is written in: what decides a command, and what a fact changes. */
import { Result } from "effect"
import { type DecisionContext, Refusal } from "#actors/definition"
import type {
  AgentCommandOf,
  AgentCommandTag,
  AgentFact,
  AgentFactOf,
  AgentFactTag,
  AgentStanding,
  AgentState
} from "#contracts"

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

export const decided = (...facts: ReadonlyArray<AgentFact>): Decision => Result.succeed(facts)

/** The command changes nothing: it comes late, or again. */
export const nothing: Decision = decided()

export const refused = (state: AgentStanding, reason: string): Decision => Result.fail(new Refusal({ state, reason }))
