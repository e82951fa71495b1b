/**
 * The reconciliation compares LOG with the events and the views derived from it, and reports what is missing. It
 * repairs nothing: a missing event was lost by a defect, and an operator must investigate. It stays one run behind the
 * relay, so that events in flight count as present.
 */
import { Clock, Effect, Option, Result, Schema, Stream } from "effect"
import { type ViewRow, Views } from "#actors"
import { type BusError, eventsKeptDays, header, jsonCodec, type SourceMessage, StreamReader } from "#bus"
import { decodeToken, EpochMs, storedEventName } from "#base"
import { Configuration } from "#configuration"
import { Checkpoints, type Findings, type Sweep } from "./sweeps.ts"
import { readRelayed } from "./retention.ts"

const dayMs = 86_400_000
// One day less than EVENTS keeps: at its edge an event may just have expired.
const keptMs = (eventsKeptDays - 1) * dayMs
const key = "reconciliation"
// Enough ids to look up; the metric has the full number.
const idsShownMax = 10

export const reconciliationSweep: Effect.Effect<Sweep, never, Configuration | Checkpoints | StreamReader | Views> =
  Effect.gen(function* () {
    const { Sweeper } = yield* Configuration
    const checkpoints = yield* Checkpoints
    const reader = yield* StreamReader
    const views = yield* Views

    const compareTo = Effect.fnUntraced(function* (relayed: number): Effect.fn.Return<Findings, BusError> {
      const keptSinceMs = (yield* Clock.currentTimeMillis) - keptMs
      const stored = yield* checkpoints.read(key)
      const checkpoint = Option.getOrUndefined(stored)?.value
      const from = checkpoint?._tag === "Reconciliation" ? checkpoint : { position: 0, eventsPosition: 0 }
      const position = Math.min(relayed, from.position + recordsMax)
      if (position <= from.position) return {}
      const { records, unreadable } = yield* readRecorded(reader, from.position + 1, position)
      const events = yield* readEvents(reader, from.eventsPosition, position)
      const missing = missingEvents(records, (id) => events.ids.has(id), keptSinceMs)
      const find = (entity: string, id: string) => Option.getOrUndefined(views.find(entity, id))
      const outdated = outdatedViews(records, find, views.freshness().sequence)
      if (missing.length + outdated.length > 0) {
        const found = { missing: missing.slice(0, idsShownMax), outdated: outdated.slice(0, idsShownMax) }
        yield* Effect.logError("events or views lack what LOG has").pipe(Effect.annotateLogs(found))
      }
      yield* checkpoints.set(key, stored, { _tag: "Reconciliation", position, eventsPosition: events.position })
      return { "missing-event": missing.length, "outdated-view": outdated.length, "unreadable-record": unreadable }
    })

    const begin = Effect.sync(() => {
      let before = 0
      return Effect.gen(function* () {
        const relayed = yield* readRelayed(reader)
        const findings = yield* compareTo(before)
        before = relayed
        return findings
      })
    })
    return { name: "reconciliation", everyMs: Sweeper.ReconciliationSeconds * 1_000, begin }
  })

const codec = jsonCodec(Schema.Struct({ atMs: EpochMs, events: Schema.Array(Schema.Unknown) }))

// The limit of one run: a few seconds of reading.
const recordsMax = 20_000
// The relay writes steps one after the other; within one, events can be reordered. No step has this many.
const stepEventsMax = 1_024

interface RecordedRange {
  readonly records: ReadonlyArray<Recorded>
  /** Unreadable records; the relay has put them into REJECTED. */
  readonly unreadable: number
}

const readRecorded = Effect.fnUntraced(function* (
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

interface EventRange {
  readonly ids: ReadonlySet<string>
  /** Where the next stretch begins: no event of a later record comes before it. */
  readonly position: number
}

/** The events of records up to `toRecord`. */
const readEvents = Effect.fnUntraced(function* (
  reader: StreamReader["Service"],
  position: number,
  toRecord: number
): Effect.fn.Return<EventRange, BusError> {
  const { lastSequence } = yield* reader.bounds("EVENTS")
  const ids = new Set<string>()
  let read = position
  let nextSequence: number | undefined
  const take = (message: SourceMessage) => {
    // A publisher outside the fleet can write anything into the id.
    const isOwn = storedEventName(message.subject)?.from === undefined
    const origin = isOwn ? originOf(message.header(header.messageId)) : undefined
    read = message.sequence
    if (origin === undefined) return
    if (origin.record <= toRecord) ids.add(placeIn(origin))
    else nextSequence ??= message.sequence
  }
  if (lastSequence > position) {
    yield* reader.range("EVENTS", { fromSequence: position + 1, toSequence: lastSequence }).pipe(
      Stream.takeWhile(({ sequence }) => nextSequence === undefined || sequence < nextSequence + stepEventsMax),
      Stream.runForEach((message) => Effect.sync(() => take(message)))
    )
  }
  return { ids, position: nextSequence === undefined ? read : nextSequence - 1 }
})

/** A record as it is compared. */
interface Recorded {
  readonly sequence: number
  readonly entity: string
  readonly id: string
  readonly events: number
  readonly atMs: number
}

/** An event derived from LOG, by the id it was published under. */
interface Origin {
  readonly record: number
  readonly index: number
}

// Earlier releases gave only the position.
const pattern = /^log\.(\d{1,15})\.(\d{1,6})(?:\.[\w-]{1,64})?$/u

const placeIn = ({ record, index }: Origin) => `log.${record}.${index}`

/** Undefined for an event that did not come from LOG. */
export const originOf = (messageId: string | undefined): Origin | undefined => {
  const [, record, index] = pattern.exec(messageId ?? "") ?? []
  return record === undefined || index === undefined ? undefined : { record: Number(record), index: Number(index) }
}

/** The positions of the missing events. EVENTS no longer keeps any for records before `keptSinceMs`. */
export const missingEvents = (
  records: ReadonlyArray<Recorded>,
  isThere: (id: string) => boolean,
  keptSinceMs: number
): ReadonlyArray<string> =>
  records
    .filter(({ atMs }) => atMs >= keptSinceMs)
    .flatMap(({ sequence, events }) =>
      Array.from({ length: events }, (_, index) => placeIn({ record: sequence, index }))
    )
    .filter((id) => !isThere(id))

/** Entities whose rows are older than their last record, although the views have progressed past it. */
export const outdatedViews = (
  records: ReadonlyArray<Recorded>,
  find: (entity: string, id: string) => Pick<ViewRow, "sequence"> | undefined,
  viewsPosition: number
): ReadonlyArray<string> => {
  const last = new Map<string, Recorded>()
  for (const record of records) {
    if (record.sequence <= viewsPosition) last.set(`${record.entity} ${record.id}`, record)
  }
  return [...last].flatMap(([name, { entity, id, sequence }]) => {
    const row = find(entity, id)
    return row !== undefined && row.sequence < sequence ? [name] : []
  })
}
