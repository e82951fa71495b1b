/**
 * What an actor is: a kind of entity with an id, and three pure functions over its facts. `decide` answers a
 * command with facts or refuses it; `evolve` is the state after a fact; `toEvents` is what the world is told of a
 * fact, given the state after it. A decision becomes one record, so that its facts, its events and the state after
 * it stand or fall together.
 */
import { type Result, Schema } from "effect"
import type { Envelope } from "#contracts"

/** The parts of an envelope that an actor says; version, name and time are put around it. */
export interface EventDraft extends Omit<Envelope, "eventSchemaVersion" | "occurredAt"> {}

/** What a decision may go by beside state and command. */
export interface DecisionContext {
  readonly id: string
  readonly commandId: string
  /** Epoch milliseconds: of the record, of its events, and of all that is told from it. */
  readonly atMs: number
}

export interface ActorDefinition<State, Command, Fact> {
  /** The entity's name as it stands in `log.<entity>.<id>`. */
  readonly entity: string
  readonly state: Schema.Codec<State, State>
  readonly fact: Schema.Codec<Fact, Fact>
  /** Of an entity that nothing is known of yet. */
  readonly initial: State
  /** Raised whenever `state` changes so that a stored one no longer fits. */
  readonly stateVersion: number
  /** A stored state of an earlier version as one of this version, before it is decoded. */
  readonly upgrade?: (stored: unknown, version: number) => unknown
  /** No facts: the command changes nothing, and nothing is written. */
  readonly decide: (
    state: State,
    command: Command,
    context: DecisionContext
  ) => Result.Result<ReadonlyArray<Fact>, Refusal | EntityNotFound>
  readonly evolve: (state: State, fact: Fact, context: DecisionContext) => State
  readonly toEvents: (state: State, fact: Fact, context: DecisionContext) => ReadonlyArray<EventDraft>
  /** After this fact the entity is gone: every later command finds nothing. */
  readonly retires?: (fact: Fact) => boolean
}

/** A row of the views without what every row says of itself. */
export interface ViewFields {
  /** Null for what belongs to none. */
  readonly project: string | null
  readonly state: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** When somebody has to look at it, by what for. */
  readonly deadlinesMs: Readonly<Record<string, number>>
  /** What lists show and sweeps go by; the entity's own. */
  readonly summary: Readonly<Record<string, unknown>>
}

/** What an entity's kind shows of a state; nothing for one that is not to be listed. */
export interface Projection<State> {
  readonly entity: string
  readonly state: Schema.Codec<State, State>
  readonly show: (state: State, id: string) => ViewFields | undefined
}

/** The entity's state does not allow it; sending it again changes nothing. `state`: what it is in. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  state: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.reason} (${this.state})`
  }
}

/** There is no such entity, or none any more. */
export class EntityNotFound extends Schema.TaggedError<EntityNotFound>()("EntityNotFound", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `no ${this.entity} ${this.id}`
  }
}

/** Too many want the same entity at once, or lost to each other too often; it may be tried again. */
export class EntityBusy extends Schema.TaggedError<EntityBusy>()("EntityBusy", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `${this.entity} ${this.id} is busy`
  }
}

/** Another entity, whose standing the command went by, has moved on; look again and decide anew. */
export class PreconditionFailed extends Schema.TaggedError<PreconditionFailed>()("PreconditionFailed", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `what was true when ${this.entity} ${this.id} was to be changed is so no longer`
  }
}
