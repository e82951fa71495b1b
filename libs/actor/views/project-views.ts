/**
 * LOG in, KV `views` out: keeps for every entity the row that its last record shows. One at a time by lease; a second
 * one, or one that repeats what it did before it died, changes nothing. An empty bucket is filled again from the
 * log's beginning. A record that cannot be read is in REJECTED, and its entity stays as it was shown.
 * The loop is alive while rows get written, or it is at the log's end, or waits for its lease or a broker that is away.
 */
import { Effect, Schedule, type Scope, Stream } from "effect"
import { type BusError, Kv, Leases, Rejections, type SourceMessage, StreamReader } from "#bus"
import { Health, Metrics } from "#runtime"
import { viewsWritten } from "../metrics.ts"
import { type ViewChange, viewChanges } from "./view-changes.ts"
import { type EntityViewer, Viewed, viewKey, type ViewRow } from "./view-row.ts"
import { readPosition, removeRow, type RowPlace, storePosition, storeRow, type ViewBucket } from "./view-store.ts"

export interface ProjectorOptions {
  /** This process, as the lease knows it. */
  readonly holder: string
  readonly viewers: ReadonlyArray<EntityViewer>
  /** A loop that has neither written a row nor been at the log's end for so long is stuck. */
  readonly stallMs?: number
}

// What comes within a moment is one run; of an entity that changes often only the last is written.
const run = { messagesMax: 512, withinMs: 20 }
// Writes on the way; a bucket takes some thousand a second.
const writesAtOnce = 64
const stallMsDefault = 30_000
const looksPerStall = 6

/** An endless loop, to be run under supervision. */
export const projectViews = Effect.fnUntraced(function* ({
  holder,
  viewers,
  stallMs = stallMsDefault
}: ProjectorOptions): Effect.fn.Return<
  Effect.Effect<never, BusError>,
  BusError,
  Kv | StreamReader | Rejections | Leases | Metrics | Health | Scope.Scope
> {
  const bucket: ViewBucket = yield* (yield* Kv).open("views", Viewed)
  const reader = yield* StreamReader
  const rejections = yield* Rejections
  const leases = yield* Leases
  const written = (yield* Metrics).counter(viewsWritten)
  const loop = yield* (yield* Health).loop("views", { stallMs })
  const byEntity = new Map(viewers.map((viewer) => [viewer.entity, viewer]))
  // Where each entity's row is: its project, and with it the key, may change.
  const places = new Map<string, RowPlace>()
  // Undefined: it does not read.
  let position: number | undefined

  const store = Effect.fnUntraced(function* ({ entity, id, row }: ViewChange) {
    const name = `${entity} ${id}`
    const before = places.get(name)
    const key = row === undefined ? undefined : viewKey(row)
    if (row === undefined) places.delete(name)
    else places.set(name, yield* storeRow(bucket, row, before?.key === key ? before : undefined))
    if (before !== undefined && before.key !== key) yield* removeRow(bucket, before.key)
    loop.beat()
  })

  // One that died between the two writes of a move has left the row under both keys; the older one goes.
  const found = ({ entity, id }: Pick<ViewRow, "entity" | "id">, place: RowPlace) => {
    const name = `${entity} ${id}`
    const other = places.get(name)
    const isOlder = other !== undefined && other.sequence > place.sequence
    if (!isOlder) places.set(name, place)
    loop.beat()
    return other === undefined ? Effect.void : removeRow(bucket, isOlder ? place.key : other.key)
  }

  const take = Effect.fnUntraced(function* (messages: ReadonlyArray<SourceMessage>) {
    const { changes, unreadable } = viewChanges(messages, byEntity)
    for (const { subject, sequence, data: payload } of unreadable) {
      const faults = [{ path: "/state", message: "cannot be read, so the entity is shown as it was before" }]
      yield* rejections.reject({ origin: "log", subject, sequence, faults, payload })
    }
    yield* Effect.forEach(changes, store, { concurrency: writesAtOnce, discard: true })
    written.inc({}, changes.length)
    const last = messages.at(-1)?.sequence ?? 0
    yield* storePosition(bucket, last)
    position = last
    loop.beat()
  })

  const work = Effect.gen(function* () {
    places.clear()
    yield* Stream.runForEach(bucket.scan(">"), ({ key, value, revision }) =>
      "entity" in value ? found(value, { key, revision, sequence: value.sequence }) : Effect.void
    )
    const done = yield* readPosition(bucket)
    position = done
    yield* Stream.runForEach(reader.followInRuns("LOG", done + 1, run), take)
  }).pipe(
    // Asking in vain for a broker that is away is no standstill.
    Effect.tapErrorTag("BusUnavailable", () => Effect.sync(loop.beat)),
    Effect.ensuring(Effect.sync(() => (position = undefined)))
  )
  // Where there is nothing to do, nothing gets done.
  const look = Effect.suspend(() => (position === undefined ? Effect.void : beatAtEnd(position))).pipe(
    Effect.catchTag("BusUnavailable", () => Effect.sync(loop.beat)),
    Effect.ignore
  )
  const beatAtEnd = (at: number) =>
    Effect.map(reader.bounds("LOG"), ({ lastSequence }) => (lastSequence <= at ? loop.beat() : undefined))
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(stallMs / looksPerStall)))
  return leases.whileHeld({ key: "views", holder, onWait: loop.beat }, work)
})
