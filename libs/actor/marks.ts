/**
 * Marks: notes in LOG that a decision leaves beside its record, in one batch with it, on the condition that each mark
 * stands where it stood. Two decisions that would leave the same mark are therefore made one after the other, whichever
 * entities they concern, and whoever finds a mark knows which decision left it. A mark has no state and tells of no
 * event; only its last note is kept, for as long as is asked.
 */
import { Effect, Option, Result, Schema } from "effect"
import { type BatchMessage, type BusError, header, jsonCodec, type StreamReader } from "#bus"
import { subjects } from "#contracts"
import { RecordHead } from "./record.ts"

/** A mark that a decision leaves. */
export interface Mark {
  readonly name: string
  /** Of its last note; 0: there is none. */
  readonly sequence: number
  /** Goes by itself after so long; for ever where it is left out. */
  readonly keptSeconds?: number
}

/** A mark as it was found. */
export interface FoundMark {
  readonly sequence: number
  /** The command whose decision left it, and the entity that decided. */
  readonly commandId: string
  readonly id: string
}

const Note = Schema.Struct({ ...RecordHead.fields, id: Schema.String })
const codec = jsonCodec(Note)
const subjectOf = (name: string) => subjects.log("guard", name)

export const markNote = (
  { name, sequence, keptSeconds }: Mark,
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

/** As the leader has it now. */
export const readMark = (
  reader: StreamReader["Service"],
  name: string
): Effect.Effect<Option.Option<FoundMark>, BusError> =>
  Effect.map(reader.last("LOG", subjectOf(name)), (last) =>
    Option.map(last, (message) => {
      const note = codec.decode(message)
      // One that cannot be read still stands where it stands.
      const { commandId, id } = Result.getOrElse(note, () => ({ commandId: "", id: "" }))
      return { sequence: message.sequence, commandId, id }
    })
  )
