/** From a state and a command to the record that carries the decision. Pure. */
import { Result } from "effect"
import { eventSchemaVersion, isoTime } from "#contracts"
import { type ActorDefinition, type DecisionContext, type EntityNotFound, Refusal } from "./definition.ts"
import type { ActorRecord } from "./record.ts"

/** Commands that may still come again after they were carried out: a retry comes within seconds. */
export const recentCommandsMax = 64

/** One message carries a decision; a decision of more events than these is a mistake of ours. */
export const factsMax = 64

/** What is known of an entity before a command. */
export interface Held<State> {
  readonly state: State
  readonly recentCommands: ReadonlyArray<string>
}

/** The record of the decision, or nothing when the command changes nothing. */
export const decideRecord = <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>,
  held: Held<State>,
  command: Command,
  context: DecisionContext
): Result.Result<ActorRecord<State, Fact> | undefined, Refusal | EntityNotFound> =>
  Result.flatMap(definition.decide(held.state, command, context), (facts) => {
    if (facts.length === 0) return Result.succeed(undefined)
    if (facts.length > factsMax) {
      return Result.fail(new Refusal({ state: definition.entity, reason: `more than ${factsMax} facts at once` }))
    }
    return Result.succeed(recordOf(definition, held, facts, context))
  })

const recordOf = <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>,
  held: Held<State>,
  facts: ReadonlyArray<Fact>,
  context: DecisionContext
): ActorRecord<State, Fact> => {
  let state = held.state
  const events = facts.flatMap((fact) => {
    state = definition.evolve(state, fact, context)
    return definition
      .toEvents(state, fact, context)
      .map((draft) => ({ eventSchemaVersion, occurredAt: isoTime(context.atMs), ...draft }))
  })
  return {
    commandId: context.commandId,
    atMs: context.atMs,
    facts,
    events,
    state,
    stateVersion: definition.stateVersion,
    recentCommands: [...held.recentCommands, context.commandId].slice(-recentCommandsMax),
    isRetired: facts.some((fact) => definition.retires?.(fact) ?? false)
  }
}

/** The state that facts lead to: what a replay of an entity's log must come to. */
export const replay = <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>,
  records: ReadonlyArray<{ readonly facts: ReadonlyArray<Fact>; readonly context: DecisionContext }>
): State =>
  records.reduce(
    (state, { facts, context }) => facts.reduce((inner, fact) => definition.evolve(inner, fact, context), state),
    definition.initial
  )
