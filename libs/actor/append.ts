/**
 * Appends a record on the condition that nobody else did since the entity was read. When a decision went by another
 * entity's standing, that one's last sequence is a condition too: then the record goes in one batch with a note that
 * carries the condition and nothing else. Only the last note of a kind is kept. So it goes with marks, which are
 * conditions and notes of their own.
 */
import { Effect } from "effect"
import { type BusError, header, type Publisher } from "#bus"
import { subjects } from "#contracts"
import { type Mark, markNote } from "./marks.ts"
import { noteOwnRecord } from "./own-records.ts"
import { type ActorRecord, recordHeadCodec, storedRecordCodec } from "./record.ts"

/** An entity as it was when a command was given for it. */
export interface Grounds {
  readonly entity: string
  readonly id: string
  readonly sequence: number
}

const noteEntity = "guard"

/** What a decision depends on beside its own entity. */
export interface Conditions {
  readonly id: string
  readonly grounds: ReadonlyArray<Grounds>
  /** The last one is stored right before the record. */
  readonly marks: ReadonlyArray<Mark>
}

/** Answers with the record's sequence. Fails with `RevisionConflict` when the entity moved on. */
export const appendRecord = <State, Fact>(
  publisher: Publisher["Service"],
  subject: string,
  record: ActorRecord<State, Fact>,
  sequence: number,
  { id, grounds, marks }: Conditions
): Effect.Effect<number, BusError> => {
  const { data } = storedRecordCodec.encode(record)
  noteOwnRecord(data, record)
  const expected = [header.expectedLastSubjectSequence, String(sequence)] as const
  if (grounds.length + marks.length === 0) {
    return Effect.map(
      publisher.publishRaw(subject, data, { expectedLastSubjectSequence: sequence, isReadBack: true }),
      (stored) => stored.sequence
    )
  }
  const notes = grounds.map((ground) => ({
    subject: subjects.log(noteEntity, `${ground.entity} ${ground.id}`),
    data: recordHeadCodec.encode({ commandId: record.commandId, atMs: record.atMs, events: [] }).data,
    headers: [
      [header.expectedLastSubjectSequence, String(ground.sequence)] as const,
      [header.expectedSubject, subjects.log(ground.entity, ground.id)] as const,
      [header.rollup, "sub"] as const
    ]
  }))
  const left = { commandId: record.commandId, atMs: record.atMs, id }
  const markNotes = marks.map((mark) => markNote(mark, left))
  return publisher.publishTogether([...notes, ...markNotes, { subject, data, headers: [expected] }])
}
