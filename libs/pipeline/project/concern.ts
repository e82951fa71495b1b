/** The shape of a concern: the commands that it decides, and what its facts make of the state. */
import { Result } from "effect"
import type { DecisionContext, Refusal } from "#actors/definition"
import type {
  ProjectCommandOf,
  ProjectCommandTag,
  ProjectFact,
  ProjectFactOf,
  ProjectFactTag,
  ProjectState
} from "#pipeline/contract"

export type Decision = Result.Result<ReadonlyArray<ProjectFact>, Refusal>

export type Deciders = {
  readonly [Tag in Exclude<ProjectCommandTag, "Create">]: (
    project: ProjectState,
    command: ProjectCommandOf<Tag>
  ) => Decision
}
export type Evolvers = {
  readonly [Tag in Exclude<ProjectFactTag, "Created">]: (
    project: ProjectState,
    fact: ProjectFactOf<Tag>,
    context: DecisionContext
  ) => Partial<ProjectState>
}

/** One topic in the life of a project. The actor is all of them together. */
export interface Concern {
  readonly commands: Partial<Deciders>
  readonly evolve: Partial<Evolvers>
}

export const decided = (...facts: ReadonlyArray<ProjectFact>): Decision => Result.succeed(facts)

/** The decision on a command that changes nothing. */
export const nothing: Decision = decided()
