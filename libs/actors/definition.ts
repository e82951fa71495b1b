/**
 * What an actor is: a kind of entity with an id, and three pure functions over its facts. `decide` answers a command
 * with facts or refuses it; `evolve` gives the state after a fact; `toEvents` gives the events of a fact and the state
 * after it. A decision becomes one record, so that its facts, its events and the state after it stand or fall together.
 */
import { type Result, Schema } from "effect"
import type { Envelope } from "#base"

/** The actor's part of an envelope; version, name and time are added to it. */
export interface EventDraft extends Omit<Envelope, "eventSchemaVersion" | "occurredAt"> {}

/** The context of a decision, beside state and command. */
export interface DecisionContext {
  readonly id: string
  readonly commandId: string
  /** Epoch milliseconds: the time of the record, of its events, and of everything derived from it. */
  readonly atMs: number
}

export interface ActorDefinition<State, Command, Fact> {
  /** The entity's name in `log.<entity>.<id>`. */
  readonly entity: string
  readonly state: Schema.Codec<State, State>
  readonly fact: Schema.Codec<Fact, Fact>
  /** The state of an unknown entity. */
  readonly initial: State
  /** Raised whenever `state` changes so that a stored one no longer fits. */
  readonly stateVersion: number
  /** Turns a stored state of an earlier version into one of this version, before it is decoded. */
  readonly upgrade?: (stored: unknown, version: number) => unknown
  /** True for a command that an unknown entity takes; left out, it may take any. Others are decided on what was read. */
  readonly begins?: (command: Command) => boolean
  /** No facts: the command changes nothing, and nothing is written. */
  readonly decide: (
    state: State,
    command: Command,
    context: DecisionContext
  ) => Result.Result<ReadonlyArray<Fact>, Refusal | EntityNotFound>
  readonly evolve: (state: State, fact: Fact, context: DecisionContext) => State
  readonly toEvents: (state: State, fact: Fact, context: DecisionContext) => ReadonlyArray<EventDraft>
  /** True for a fact that retires the entity: every later command finds nothing. */
  readonly retires?: (fact: Fact) => boolean
}

/** The fields of a view row that depend on its kind. */
export interface ViewFields {
  /** Null for an entity of no project. */
  readonly project: string | null
  readonly state: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** When a sweep has to look at it, by the name of the deadline. */
  readonly deadlinesMs: Readonly<Record<string, number>>
  /** The fields that lists show and sweeps use, by the entity's own definition. */
  readonly summary: Readonly<Record<string, unknown>>
}

/** What a kind of entity shows of a state; undefined for one that is not to be listed. */
export interface Projection<State> {
  readonly entity: string
  readonly state: Schema.Codec<State, State>
  readonly show: (state: State, id: string) => ViewFields | undefined
}

/** The entity's state does not allow the command; sending it again changes nothing. `state`: the present one. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  state: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.reason} (${this.state})`
  }
}

/** The entity does not exist, or no longer exists. */
export class EntityNotFound extends Schema.TaggedError<EntityNotFound>()("EntityNotFound", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `no ${this.entity} ${this.id}`
  }
}

/** Too many commands want the same entity at once, or lost to each other too often; the caller may retry. */
export class EntityBusy extends Schema.TaggedError<EntityBusy>()("EntityBusy", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `${this.entity} ${this.id} is busy`
  }
}

/** Another entity that the command depended on has changed; read again and decide anew. */
export class PreconditionFailed extends Schema.TaggedError<PreconditionFailed>()("PreconditionFailed", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `what was true when ${this.entity} ${this.id} was to be changed is so no longer`
  }
}
