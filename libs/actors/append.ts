/**
 * Appends a record on the condition that no other was appended since the entity was read. When a decision depends on
 * another entity's state, that entity's last sequence is a condition too: then the record goes in one batch with a note
 * that carries the condition and nothing else. Only the last note of a kind is kept. Unique keys work the same way:
 * they are conditions with notes of their own.
 */
import { Effect, Option, Result, Schema } from "effect"
import { type BatchMessage, type BusError, header, jsonCodec, type Publisher, type StreamReader } from "#bus"
import { subjects } from "#contracts"
import { type ActorRecord, cacheRecord, RecordHead, recordHeadCodec, storedRecordCodec } from "./record.ts"

/** An entity as it was when a command was given for it. */
export interface Precondition {
  readonly entity: string
  readonly id: string
  readonly sequence: number
}

/**
 * A note in LOG that a decision leaves beside its record, on the condition that the note has not moved: two decisions
 * that would take the same key are made one after the other, whichever entities they concern.
 */
export interface UniqueKey {
  readonly name: string
  /** The sequence of its last note; 0: there is none. */
  readonly sequence: number
  /** Expires by itself after so long; never when it is left out. */
  readonly keptSeconds?: number
}

/** A unique key as found in LOG. */
export interface FoundUniqueKey {
  readonly sequence: number
  /** The command whose decision left it, and the entity that decided. */
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

/** Returns the record's sequence. Fails with `RevisionConflict` when the entity moved on. */
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

/** The note that the leader has now. */
export const readUniqueKey = (
  reader: StreamReader["Service"],
  name: string
): Effect.Effect<Option.Option<FoundUniqueKey>, BusError> =>
  Effect.map(reader.last("LOG", subjectOf(name)), (last) =>
    Option.map(last, (message) => {
      const note = codec.decode(message)
      // A note that cannot be read still holds its place.
      const { commandId, id } = Result.getOrElse(note, () => ({ commandId: "", id: "" }))
      return { sequence: message.sequence, commandId, id }
    })
  )
