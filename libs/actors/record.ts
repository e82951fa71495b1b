/**
 * One decision as stored in LOG: its command, its time, the facts, the envelopes that follow from them, and the state
 * after it. An entity's last record is therefore enough to load it. This file creates a record from a state and a
 * command, writes it, and reads it. Pure except for a cache of recent writes.
 */
import { Effect, Option, Result, Schema } from "effect"
import {
  type BatchMessage,
  type BusError,
  header,
  jsonCodec,
  type MessageCodec,
  type Publisher,
  type RawMessage,
  type StreamReader
} from "#bus"
import {
  boundedDecoder,
  Envelope,
  EpochMs,
  eventSchemaVersion,
  type Fault,
  isoTime,
  pointedFaults,
  subjects
} from "#base"
import { type ActorDefinition, type DecisionContext, type EntityNotFound, Refusal } from "./definition.ts"

/** The head of every record, whatever the entity; enough to derive events from it. */
export const RecordHead = Schema.Struct({
  commandId: Schema.String,
  atMs: EpochMs,
  events: Schema.Array(Envelope)
})
export interface RecordHead extends Schema.Schema.Type<typeof RecordHead> {}

export interface ActorRecord<State, Fact> extends RecordHead {
  readonly facts: ReadonlyArray<Fact>
  readonly state: State
  readonly stateVersion: number
  /** The ids of the latest commands, including this one: a repeated command has been carried out. */
  readonly recentCommands: ReadonlyArray<string>
  readonly isRetired: boolean
}

/** Commands that can be repeated after they were carried out: a retry comes within seconds. */
export const recentCommandsMax = 64

/** One message carries a decision; a decision with more events than this is a bug. */
export const factsMax = 64

/** The known state of an entity before a command. */
export interface ActorState<State> {
  readonly state: State
  readonly recentCommands: ReadonlyArray<string>
}

/** The record of the decision; undefined when the command changes nothing. */
export const decideRecord = <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>,
  before: ActorState<State>,
  command: Command,
  context: DecisionContext
): Result.Result<ActorRecord<State, Fact> | undefined, Refusal | EntityNotFound> =>
  Result.flatMap(definition.decide(before.state, command, context), (facts) => {
    if (facts.length === 0) return Result.succeed(undefined)
    if (facts.length > factsMax) {
      return Result.fail(new Refusal({ state: definition.entity, reason: `more than ${factsMax} facts at once` }))
    }
    return Result.succeed(recordOf(definition, before, facts, context))
  })

const recordOf = <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>,
  before: ActorState<State>,
  facts: ReadonlyArray<Fact>,
  context: DecisionContext
): ActorRecord<State, Fact> => {
  let state = before.state
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
    recentCommands: [...before.recentCommands, context.commandId].slice(-recentCommandsMax),
    isRetired: facts.some((fact) => definition.retires?.(fact) ?? false)
  }
}

/** The state that facts lead to; replaying an entity's log must give the stored one. */
export const replay = <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>,
  records: ReadonlyArray<{ readonly facts: ReadonlyArray<Fact>; readonly context: DecisionContext }>
): State =>
  records.reduce(
    (state, { facts, context }) => facts.reduce((inner, fact) => definition.evolve(inner, fact, context), state),
    definition.initial
  )

const Stored = Schema.Struct({
  ...RecordHead.fields,
  facts: Schema.Array(Schema.Unknown),
  state: Schema.Unknown,
  stateVersion: Schema.Int,
  recentCommands: Schema.Array(Schema.String),
  isRetired: Schema.Boolean
})
/** Reads any entity's record, with its state undecoded. */
export const storedRecordCodec = jsonCodec(Stored)

/** Reads any entity's record without its state. */
export const recordHeadCodec = jsonCodec(RecordHead)

/** Facts stay as written: history is shown, never decided on. */
export const recordCodec = <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>
): MessageCodec<ActorRecord<State, unknown>> => {
  const decodeState = boundedDecoder(definition.state)
  const current = (state: unknown, version: number) =>
    version === definition.stateVersion || definition.upgrade === undefined ? state : definition.upgrade(state, version)
  return {
    encode: (record) => storedRecordCodec.encode(record),
    decode: (message: RawMessage): Result.Result<ActorRecord<State, unknown>, ReadonlyArray<Fault>> =>
      Result.flatMap(storedRecordCodec.decode(message), (record) =>
        Result.mapBoth(decodeState(current(record.state, record.stateVersion)), {
          onSuccess: (state) => ({ ...record, state }),
          onFailure: (faults) => pointedFaults(faults).map(({ path, message }) => ({ path: `/state${path}`, message }))
        })
      )
  }
}

// Keyed by the object that holds the bytes: a record read back as that very object need not be decoded.
const records = new WeakMap<Uint8Array, ActorRecord<unknown, unknown>>()

/** `data`: the bytes of the written record. */
const cacheRecord = (data: Uint8Array, record: ActorRecord<unknown, unknown>): void => {
  records.set(data, record)
}

/** Undefined for another process's record, and for an evicted one. */
export const cachedRecord = (data: Uint8Array): ActorRecord<unknown, unknown> | undefined => records.get(data)

/** An entity as it was when a command was issued for it. */
export interface Precondition {
  readonly entity: string
  readonly id: string
  readonly sequence: number
}

/**
 * A note in LOG that a decision stores beside its record, on the condition that the note has not changed: two decisions
 * that take the same key are made one after the other, whichever entities they concern.
 */
export interface UniqueKey {
  readonly name: string
  /** The sequence of its last note; 0 if it has none. */
  readonly sequence: number
  /** Expires after this long; never if omitted. */
  readonly keptSeconds?: number
}

/** A unique key as found in LOG. */
export interface FoundUniqueKey {
  readonly sequence: number
  /** The command whose decision stored it, and the entity that decided. */
  readonly commandId: string
  readonly id: string
}

const noteEntity = "guard"

interface Appended<State, Fact> {
  readonly subject: string
  readonly record: ActorRecord<State, Fact>
  /** The sequence of the entity's last record, on which this one was decided. */
  readonly sequence: number
  readonly id: string
  readonly preconditions: ReadonlyArray<Precondition>
  /** The last one is stored right before the record. */
  readonly uniqueKeys: ReadonlyArray<UniqueKey>
}

/**
 * Appends a record on the condition that no other was appended since the entity was read. When a decision depends on
 * another entity's state, that entity's last sequence is a condition too: the record then goes in one batch with a note
 * that carries only the condition. Only the last note of a kind is kept. Unique keys work the same way: they are
 * conditions with notes of their own. Returns the record's sequence. Fails when the entity has changed.
 */
export const appendRecord = <State, Fact>(
  publisher: Publisher["Service"],
  { subject, record, sequence, id, preconditions, uniqueKeys }: Appended<State, Fact>
): Effect.Effect<number, BusError> => {
  const { data } = storedRecordCodec.encode(record)
  cacheRecord(data, record)
  const expected = [header.expectedLastSubjectSequence, String(sequence)] as const
  if (preconditions.length + uniqueKeys.length === 0) {
    return Effect.map(
      publisher.publishRaw(subject, data, { expectedLastSubjectSequence: sequence, isReadBack: true }),
      (stored) => stored.sequence
    )
  }
  const notes = preconditions.map((precondition) => ({
    subject: subjects.log(noteEntity, `${precondition.entity} ${precondition.id}`),
    data: recordHeadCodec.encode({ commandId: record.commandId, atMs: record.atMs, events: [] }).data,
    headers: [
      [header.expectedLastSubjectSequence, String(precondition.sequence)] as const,
      [header.expectedSubject, subjects.log(precondition.entity, precondition.id)] as const,
      [header.rollup, "sub"] as const
    ]
  }))
  const left = { commandId: record.commandId, atMs: record.atMs, id }
  const keyNotes = uniqueKeys.map((key) => uniqueKeyNote(key, left))
  return publisher.publishTogether([...notes, ...keyNotes, { subject, data, headers: [expected] }])
}

const Note = Schema.Struct({ ...RecordHead.fields, id: Schema.String })
const codec = jsonCodec(Note)
const subjectOf = (name: string) => subjects.log("guard", name)

const uniqueKeyNote = (
  { name, sequence, keptSeconds }: UniqueKey,
  left: { readonly commandId: string; readonly atMs: number; readonly id: string }
): BatchMessage => ({
  subject: subjectOf(name),
  data: codec.encode({ ...left, events: [] }).data,
  headers: [
    [header.expectedLastSubjectSequence, String(sequence)],
    [header.rollup, "sub"],
    ...(keptSeconds === undefined ? [] : [[header.ttl, `${keptSeconds}s`] as const])
  ]
})

/** The leader's current note. */
export const readUniqueKey = (
  reader: StreamReader["Service"],
  name: string
): Effect.Effect<Option.Option<FoundUniqueKey>, BusError> =>
  Effect.map(reader.last("LOG", subjectOf(name)), (last) =>
    Option.map(last, (message) => {
      const note = codec.decode(message)
      // An unreadable note still holds its place.
      const { commandId, id } = Result.getOrElse(note, () => ({ commandId: "", id: "" }))
      return { sequence: message.sequence, commandId, id }
    })
  )
