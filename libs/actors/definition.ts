/**
 * An actor is a kind of entity with an id, and three pure functions over its facts. `decide` answers a command with
 * facts or refuses it; `evolve` gives the state after a fact; `toEvents` gives the events of a fact and the state after
 * it. A decision becomes one record, so its facts, its events and the state after it are stored together or not at all.
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
  /** Increased whenever `state` changes so that a stored one no longer fits. */
  readonly stateVersion: number
  /** Upgrades a stored state of an earlier version to this version, before decoding. */
  readonly upgrade?: (stored: unknown, version: number) => unknown
  /**
   * True for a command that an unknown entity accepts; if omitted, it accepts any. Others are decided on the state that
   * was read.
   */
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
  /** Null for an entity outside any project. */
  readonly project: string | null
  readonly state: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** When a sweep must check it, by the name of the deadline. */
  readonly deadlinesMs: Readonly<Record<string, number>>
  /** The fields that lists show and sweeps use, by the entity's own definition. */
  readonly summary: Readonly<Record<string, unknown>>
}

/** What a kind of entity shows of its state; undefined for one that is not listed. */
export interface Projection<State> {
  readonly entity: string
  readonly state: Schema.Codec<State, State>
  readonly show: (state: State, id: string) => ViewFields | undefined
}

/** The entity's state does not allow the command; sending it again does not help. `state`: the current one. */
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

/** Too many commands for the entity at once, or they lost to each other too often; the caller can retry. */
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
