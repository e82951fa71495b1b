/**
 * Projects LOG to KV `views`: keeps one row per entity, made from its last record. One projector works at a time, by
 * lease; a second one, or a repetition after a crash, changes nothing. An empty bucket is refilled from the log's
 * beginning. An unreadable record is in REJECTED, and its entity keeps its last row. The loop is alive while it writes
 * rows, is at the log's end, or waits for its lease or an unreachable broker.
 */
import { Effect, Option, Result, Schedule, type Scope, Stream } from "effect"
import {
  type BusError,
  deleted,
  kept,
  Kv,
  type KvBucket,
  Leases,
  type Records,
  records,
  Rejections,
  replaced,
  type SourceMessage,
  StreamReader
} from "#bus"
import { decodeToken } from "#base"
import { defineCounter, Health, Metrics } from "#runtime"
import type { ViewFields } from "../definition.ts"
import { cachedRecord, storedRecordCodec } from "../record.ts"
import { cursorKey, type EntityProjection, Viewed, viewKey, type ViewRow } from "./views.ts"

export const viewsWritten = defineCounter({
  name: "actor_views_written_total",
  help: "Rows of the views that were made from records.",
  labels: []
})

export interface ProjectorOptions {
  /** This process's name in the lease. */
  readonly holder: string
  readonly projections: ReadonlyArray<EntityProjection>
  /** A loop that has neither written a row nor reached the log's end for this long is stuck. */
  readonly stallMs?: number
}

// Records that arrive within a moment form one run; for a frequently changing entity only the last is written.
const run = { messagesMax: 512, withinMs: 20 }
// Concurrent writes; a bucket handles a few thousand a second.
const writesAtOnce = 64
const stallMsDefault = 30_000
const looksPerStall = 6

/** An endless loop, to be run under supervision. */
export const projectViews = Effect.fnUntraced(function* (
  options: ProjectorOptions
): Effect.fn.Return<
  Effect.Effect<never, BusError>,
  BusError,
  Kv | StreamReader | Rejections | Leases | Metrics | Health | Scope.Scope
> {
  const { holder, projections, stallMs = stallMsDefault } = options
  const bucket: ViewBucket = yield* (yield* Kv).open("views", Viewed)
  const reader = yield* StreamReader
  const rejections = yield* Rejections
  const leases = yield* Leases
  const written = (yield* Metrics).counter(viewsWritten)
  const loop = yield* (yield* Health).loop("views", { stallMs })
  const byEntity = new Map(projections.map((projection) => [projection.entity, projection]))
  const rows = rowKeeper(records(bucket), loop.beat)
  // Undefined while it is not reading.
  let position: number | undefined

  const take = Effect.fnUntraced(function* (messages: ReadonlyArray<SourceMessage>) {
    const { changes, unreadable } = viewChanges(messages, byEntity)
    yield* rejectAll(rejections, unreadable)
    yield* Effect.forEach(changes, rows.store, { concurrency: writesAtOnce, discard: true })
    written.inc({}, changes.length)
    const last = messages.at(-1)?.sequence ?? 0
    yield* storePosition(records(bucket), last)
    position = last
    loop.beat()
  })

  const work = Effect.gen(function* () {
    rows.forget()
    yield* Stream.runForEach(bucket.scan(">"), ({ key, value, revision }) =>
      "entity" in value ? rows.found(value, { key, revision, sequence: value.sequence }) : Effect.void
    )
    const done = yield* readPosition(bucket)
    position = done
    yield* Stream.runForEach(reader.followInBatches("LOG", done + 1, run), take)
  }).pipe(
    // Retrying while the broker is away is not a stall.
    Effect.tapErrorTag("BusUnavailable", () => Effect.sync(loop.beat)),
    Effect.ensuring(Effect.sync(() => (position = undefined)))
  )
  // With no work to do, no progress is expected.
  const look = Effect.suspend(() => (position === undefined ? Effect.void : beatAtEnd(reader, loop, position))).pipe(
    Effect.catchTag("BusUnavailable", () => Effect.sync(loop.beat)),
    Effect.ignore
  )
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(stallMs / looksPerStall)))
  return leases.whileHeld({ key: "views", holder, onWait: loop.beat }, work)
})

/** Updates rows to their records. It tracks each row's key, because the project, and with it the key, can change. */
const rowKeeper = (rows: Rows, onDone: () => void) => {
  const places = new Map<string, RowPlace>()

  const store = Effect.fnUntraced(function* ({ entity, id, row }: ViewChange) {
    const name = `${entity} ${id}`
    const before = places.get(name)
    const key = row === undefined ? undefined : viewKey(row)
    if (row === undefined) places.delete(name)
    else places.set(name, yield* storeRow(rows, row, before?.key === key ? before : undefined))
    if (before !== undefined && before.key !== key) yield* removeRow(rows, before.key)
    onDone()
  })

  // A projector that died between the two writes of a move left the row under both keys; the older one is removed.
  const found = ({ entity, id }: Pick<ViewRow, "entity" | "id">, place: RowPlace) => {
    const name = `${entity} ${id}`
    const other = places.get(name)
    const isOlder = other !== undefined && other.sequence > place.sequence
    if (!isOlder) places.set(name, place)
    onDone()
    return other === undefined ? Effect.void : removeRow(rows, isOlder ? place.key : other.key)
  }

  return { store, found, forget: () => places.clear() }
}

const rejectAll = (rejections: Rejections["Service"], unreadable: ReadonlyArray<SourceMessage>) => {
  const faults = [{ path: "/state", message: "cannot be read, so the entity is shown as it was before" }]
  const reject = ({ subject, sequence, data: payload }: SourceMessage) =>
    rejections.reject({ origin: "log", subject, sequence, faults, payload })
  return Effect.forEach(unreadable, reject, { discard: true })
}

const beatAtEnd = (reader: StreamReader["Service"], loop: { readonly beat: () => void }, position: number) =>
  Effect.map(reader.bounds("LOG"), ({ lastSequence }) => (lastSequence <= position ? loop.beat() : undefined))

interface ViewChange {
  readonly entity: string
  readonly id: string
  readonly sequence: number
  /** Undefined when the entity is gone, or not listed. */
  readonly row: ViewRow | undefined
}

interface ViewChanges {
  readonly changes: ReadonlyArray<ViewChange>
  /** Records that could not be read; their entities keep their last rows. */
  readonly unreadable: ReadonlyArray<SourceMessage>
}

/** The view changes from a run of the log: only an entity's last record counts. Pure. */
export const viewChanges = (
  run: ReadonlyArray<SourceMessage>,
  projections: ReadonlyMap<string, EntityProjection>
): ViewChanges => {
  const last = new Map<string, SourceMessage>()
  for (const message of run) last.set(message.subject, message)
  const changes: Array<ViewChange> = []
  const unreadable: Array<SourceMessage> = []
  for (const message of last.values()) {
    const [, entity = "", token = ""] = message.subject.split(".")
    const projection = projections.get(entity)
    if (projection === undefined) continue
    const change = changeOf(message, projection, decodeToken(token))
    if (change === undefined) unreadable.push(message)
    else changes.push(change)
  }
  return { changes, unreadable }
}

const changeOf = (message: SourceMessage, projection: EntityProjection, id: string): ViewChange | undefined => {
  const { entity } = projection
  const { sequence } = message
  const shown = fieldsOf(message, projection, id)
  if (Result.isFailure(shown)) return undefined
  const row = shown.success === undefined ? undefined : { entity, id, sequence, ...shown.success }
  return { entity, id, sequence, row }
}

/** Undefined for an entity that is gone or not listed. */
const fieldsOf = (
  message: SourceMessage,
  projection: EntityProjection,
  id: string
): Result.Result<ViewFields | undefined, unknown> => {
  const own = cachedRecord(message.data)
  if (own !== undefined) return Result.succeed(own.isRetired ? undefined : projection.showDecoded(own.state, id))
  return Result.flatMap(
    storedRecordCodec.decode(message),
    ({ isRetired, state }): Result.Result<ViewFields | undefined, unknown> =>
      isRetired ? Result.succeed(undefined) : projection.show(state, id)
  )
}

type ViewBucket = KvBucket<Viewed>
type Rows = Records<Viewed>

/** Where a row was last seen or written, and the record it shows. */
interface RowPlace {
  readonly key: string
  readonly revision: number
  readonly sequence: number
}

const isRow = (value: Viewed): value is ViewRow => "entity" in value

/** Updates one row to its record, unless it is current. `known`: the row under the same key; undefined if absent. */
const storeRow = (rows: Rows, row: ViewRow, known: RowPlace | undefined): Effect.Effect<RowPlace, BusError> => {
  const key = viewKey(row)
  if (known !== undefined && known.sequence >= row.sequence) return Effect.succeed(known)
  const upToDate = (before: Viewed | undefined) =>
    before !== undefined && isRow(before) && before.sequence >= row.sequence
      ? kept(before.sequence)
      : Result.succeed({ answer: row.sequence, next: row })
  // The decision depends on the sequence alone.
  const seen = Option.map(Option.fromUndefinedOr(known), ({ revision, sequence }) => ({
    key,
    value: { ...row, sequence },
    revision
  }))
  return Effect.map(rows.change(key, upToDate, { known: seen }), ({ answer: sequence, revision }) => ({
    key,
    revision,
    sequence
  }))
}

const removeRow = (rows: Rows, key: string) => Effect.asVoid(rows.change(key, () => deleted(undefined, "erase")))

/** The position of the views in the log. */
const readPosition = (bucket: ViewBucket): Effect.Effect<number, BusError> =>
  Effect.map(
    bucket.get(cursorKey),
    Option.match({ onNone: () => 0, onSome: ({ value }) => (isRow(value) ? 0 : value.position) })
  )

/** Never moves backwards. */
const storePosition = (rows: Rows, position: number) =>
  rows.change(cursorKey, (before) =>
    before !== undefined && !isRow(before) && before.position >= position
      ? kept(before)
      : replaced<Viewed>({ _tag: "Cursor", position })
  )
