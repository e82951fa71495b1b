/** Reads the stretch of LOG and of EVENTS that a reconciliation compares, each within a bound. */
import { Effect, Result, Schema, Stream } from "effect"
import { type BusError, header, jsonCodec, type SourceMessage, type StreamReader } from "#bus"
import { decodeToken, EpochMs } from "#contracts"
import { announcedBy, type Recorded } from "./compare.ts"

const codec = jsonCodec(Schema.Struct({ atMs: EpochMs, events: Schema.Array(Schema.Unknown) }))

/** Of one run; some seconds of reading. */
export const recordsMax = 20_000
// The relay writes one step after the other; within one, events may change places. No step has so many.
const stepEventsMax = 1_024

export interface RecordedRange {
  readonly records: ReadonlyArray<Recorded>
  /** Records that say nothing readable; the relay has put them into REJECTED. */
  readonly unreadable: number
}

export const readRecorded = Effect.fnUntraced(function* (
  reader: StreamReader["Service"],
  fromSequence: number,
  toSequence: number
): Effect.fn.Return<RecordedRange, BusError> {
  const records: Array<Recorded> = []
  let unreadable = 0
  const take = (message: SourceMessage) => {
    const record = codec.decode(message)
    const [, entity = "", token = ""] = message.subject.split(".")
    if (Result.isFailure(record)) unreadable += 1
    else {
      const { atMs, events } = record.success
      records.push({ sequence: message.sequence, entity, id: decodeToken(token), events: events.length, atMs })
    }
  }
  yield* Stream.runForEach(reader.range("LOG", { fromSequence, toSequence }), (message) =>
    Effect.sync(() => take(message))
  )
  return { records, unreadable }
})

export interface AnnouncedRange {
  readonly ids: ReadonlySet<string>
  /** Where the next stretch begins: before it there is no event of a later record. */
  readonly position: number
}

/** Events of records up to `toRecord`. */
export const readAnnouncedEvents = Effect.fnUntraced(function* (
  reader: StreamReader["Service"],
  position: number,
  toRecord: number
): Effect.fn.Return<AnnouncedRange, BusError> {
  const { lastSequence } = yield* reader.bounds("EVENTS")
  const ids = new Set<string>()
  let read = position
  let later: number | undefined
  const take = (message: SourceMessage) => {
    const id = message.header(header.messageId)
    const announced = announcedBy(id)
    read = message.sequence
    if (announced === undefined || id === undefined) return
    if (announced.record <= toRecord) ids.add(id)
    else later ??= message.sequence
  }
  if (lastSequence > position) {
    yield* reader.range("EVENTS", { fromSequence: position + 1, toSequence: lastSequence }).pipe(
      Stream.takeWhile(({ sequence }) => later === undefined || sequence < later + stepEventsMax),
      Stream.runForEach((message) => Effect.sync(() => take(message)))
    )
  }
  return { ids, position: later === undefined ? read : later - 1 }
})
