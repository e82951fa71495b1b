/**
 * The views as read: a watched copy in memory that reports its freshness. Lists and sweeps use it; a caller that needs
 * the exact state asks the actor. The copy is bounded: rows beyond the bound are omitted, those of ended entities
 * first, and the copy reports that.
 *
 * One entity as lists and watchdogs see it: made from its last record, and therefore a moment behind it. A caller that
 * needs the exact state asks the actor.
 */
import { Context, Deferred, Effect, Layer, Option, Result, Schedule, Schema, Stream } from "effect"
import { type BusError, Kv, type KvBucket, StreamReader } from "#bus"
import { defineGauge, Metrics } from "#runtime"
import { Count, encodeToken, EpochMs } from "#base"
import type { Projection, ViewFields } from "../definition.ts"

export const ViewRow = Schema.Struct({
  entity: Schema.String,
  id: Schema.String,
  /** Null for an entity outside any project. */
  project: Schema.NullOr(Schema.String),
  state: Schema.String,
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** When a sweep must check it, by the name of the deadline. */
  deadlinesMs: Schema.Record(Schema.String, EpochMs),
  /** The sequence of the record that the row shows. */
  sequence: Count,
  /** The fields that lists show and sweeps use, by the entity's own definition. */
  summary: Schema.Record(Schema.String, Schema.Unknown)
})
export interface ViewRow extends Schema.Schema.Type<typeof ViewRow> {}

/** The position of the views in LOG. */
export const ViewCursor = Schema.TaggedStruct("Cursor", { position: Count })
export const Viewed = Schema.Union([ViewRow, ViewCursor])
export type Viewed = Schema.Schema.Type<typeof Viewed>

export const cursorKey = "cursor"

/** `<project>.<entity>.<id>`, so that one project's rows can be read alone; `=` means no project. */
export const viewKey = ({ entity, id, project }: Pick<ViewRow, "entity" | "id" | "project">) =>
  `${encodeToken(project ?? "")}.${encodeToken(entity)}.${encodeToken(id)}`

/** A projection that decodes stored states itself, so that projections of different kinds fit in one table. */
export interface EntityProjection {
  readonly entity: string
  /** Fails for an unreadable stored state. */
  readonly show: (stored: unknown, id: string) => Result.Result<ViewFields | undefined, Schema.SchemaError>
  /** For a state that an actor of that kind decided in this process: it is not decoded again. */
  readonly showDecoded: (state: unknown, id: string) => ViewFields | undefined
}

export const entityProjection = <State>({ entity, state, show }: Projection<State>): EntityProjection => {
  const decode = Schema.decodeUnknownResult(state)
  return {
    entity,
    show: (stored, id) => Result.map(decode(stored), (known) => show(known, id)),
    // The entity in the subject determines the state's type; the compiler cannot see that.
    showDecoded: (own, id) => show(own as State, id)
  }
}

export interface SummaryRow<Summary> extends Omit<ViewRow, "summary"> {
  readonly summary: Summary
}

/**
 * Reads the summaries of one kind of rows, each once, because sweeps go through all of them many times a second. A row
 * of another version of the fleet is omitted, and returns once the projector is of this version.
 */
export const summaryReader = <Summary>(schema: Schema.Codec<Summary, unknown>) => {
  const decode = Schema.decodeUnknownOption(schema)
  const known = new WeakMap<ViewRow, Option.Option<SummaryRow<Summary>>>()
  const read = (row: ViewRow): Option.Option<SummaryRow<Summary>> => {
    const before = known.get(row)
    if (before !== undefined) return before
    const seen = Option.map(decode(row.summary), (summary): SummaryRow<Summary> => ({ ...row, summary }))
    known.set(row, seen)
    return seen
  }
  return (rows: ReadonlyArray<ViewRow>): ReadonlyArray<SummaryRow<Summary>> => {
    const all: Array<SummaryRow<Summary>> = []
    for (const row of rows) {
      const seen = read(row)
      if (Option.isSome(seen)) all.push(seen.value)
    }
    return all
  }
}

export const viewsBehind = defineGauge({
  name: "actor_views_behind",
  help: "Records of LOG that the views of this process do not show yet.",
  labels: []
})

export const viewsLeftOut = defineGauge({
  name: "actor_views_left_out",
  help: "Rows beyond what the views of this process keep: ended ones only miss in lists; moving ones are not worked on, and caps cannot be counted.",
  labels: ["which"]
})

export interface ViewQuery {
  readonly entity: string
  readonly project?: string
  readonly states?: ReadonlyArray<string>
}

export interface ViewFreshness {
  /** The record up to which the views show everything. */
  readonly sequence: number
  /** Records not yet shown, at the last check. */
  readonly behind: number
  /** There are more entities than are kept here, and the missing ones are not listed. Ended ones are omitted first. */
  readonly isTruncated: boolean
}

export interface ViewsOptions {
  /** The number of rows kept; a row takes about a kilobyte. */
  readonly rowsMax?: number
}

const rowsMaxDefault = 250_000
const lookEvery = "1 second"
// Rows arrive in batches of the size in which they are written.
const run = { messagesMax: 512, withinMs: 5 }
// Rows that fit again return within the second, a few thousand at a time.
const fetchedMax = 2_000
const fetchesAtOnce = 32

export class Views extends Context.Service<
  Views,
  {
    /** In order of creation, oldest first. */
    readonly list: (query: ViewQuery) => ReadonlyArray<ViewRow>
    readonly find: (entity: string, id: string) => Option.Option<ViewRow>
    /** Rows of an entity whose deadline of that name has passed. */
    readonly due: (entity: string, deadline: string, nowMs: number) => ReadonlyArray<ViewRow>
    readonly freshness: () => ViewFreshness
    /** Completes when the views show everything up to a record other than that one. */
    readonly movedFrom: (sequence: number) => Effect.Effect<void>
    /** Only rows of ended entities are omitted, so items in flight can be counted. */
    readonly isComplete: () => boolean
  }
>()("starling/actor/Views") {
  static readonly layer = ({ rowsMax = rowsMaxDefault }: ViewsOptions = {}) => Layer.effect(Views, make(rowsMax))
}

const make = Effect.fnUntraced(function* (rowsMax: number) {
  const bucket = yield* (yield* Kv).open("views", Viewed)
  const copy = yield* watchedCopy(bucket, rowsMax)
  const { index } = copy
  const isComplete = () => index.leftOut().moving === 0
  const behind = yield* refresh({ bucket, copy, rowsMax, isComplete })

  return Views.of({
    list: ({ entity, project, states }) =>
      index
        .rowsOf(entity)
        .filter(
          (row) =>
            (project === undefined || row.project === project) && (states === undefined || states.includes(row.state))
        )
        .toSorted((left, right) => left.createdAtMs - right.createdAtMs || (left.id < right.id ? -1 : 1)),
    find: index.find,
    due: (entity, deadline, nowMs) =>
      index.rowsOf(entity).filter((row) => (row.deadlinesMs[deadline] ?? Infinity) <= nowMs),
    freshness: () => {
      const { ended, moving } = index.leftOut()
      return { sequence: copy.sequence(), behind: behind(), isTruncated: ended + moving > 0 }
    },
    movedFrom: copy.movedFrom,
    isComplete
  })
})

interface WatchedCopy {
  readonly index: ViewIndex
  readonly take: (key: string, value: Option.Option<Viewed>) => void
  /** The record up to which it shows everything. */
  readonly sequence: () => number
  readonly movedFrom: (sequence: number) => Effect.Effect<void>
}

/** The present rows, then every change of them. */
const watchedCopy = Effect.fnUntraced(function* (bucket: KvBucket<Viewed>, rowsMax: number) {
  const index = viewIndex(rowsMax)
  let sequence = 0
  let moved = Deferred.makeUnsafe<void>()
  const take = (key: string, value: Option.Option<Viewed>) => {
    if (Option.isNone(value)) return index.forget(key)
    if (key === cursorKey) return void (sequence = "position" in value.value ? value.value.position : sequence)
    return "entity" in value.value ? index.keep(key, value.value) : undefined
  }

  let revision = 0
  yield* Stream.runForEach(bucket.scan(">"), (entry) =>
    Effect.sync(() => {
      revision = Math.max(revision, entry.revision)
      take(entry.key, Option.some(entry.value))
    })
  )
  const watch = Stream.suspend(() => {
    const from = revision + 1
    // After a break the bucket's changes are unknown, so all of it is read again.
    revision = 0
    return bucket.changesInBatches(from, run)
  })
  const watching = Stream.runForEach(watch, (changes) =>
    Effect.sync(() => {
      const before = sequence
      for (const { key, entry } of changes) take(key, valueOf(entry))
      if (sequence !== before) Deferred.doneUnsafe(moved, Effect.void)
    })
  )
  yield* Effect.forkScoped(Effect.retry(watching, Schedule.spaced("500 millis")))
  const movedFrom = (known: number) =>
    Effect.suspend(() => {
      if (sequence !== known) return Effect.void
      if (Deferred.isDoneUnsafe(moved)) moved = Deferred.makeUnsafe()
      return Deferred.await(moved)
    })
  const copy: WatchedCopy = { index, take, sequence: () => sequence, movedFrom }
  return copy
})

const valueOf = Option.map(({ value }: { readonly value: Viewed }) => value)

interface Refreshing {
  readonly bucket: KvBucket<Viewed>
  readonly copy: WatchedCopy
  readonly rowsMax: number
  readonly isComplete: () => boolean
}

/** Runs each second: restores rows that fit again, and measures and returns how far behind the copy is. */
const refresh = Effect.fnUntraced(function* ({ bucket, copy, rowsMax, isComplete }: Refreshing) {
  const reader = yield* StreamReader
  const metrics = yield* Metrics
  const behindGauge = metrics.gauge(viewsBehind)
  const leftOutGauge = metrics.gauge(viewsLeftOut)
  let behind = 0
  let wasComplete = true

  const fetchAgain = Effect.suspend(() =>
    Effect.forEach(
      copy.index.wanted(fetchedMax),
      (key) => Effect.map(bucket.get(key), (entry) => copy.take(key, valueOf(entry))),
      { concurrency: fetchesAtOnce, discard: true }
    )
  )
  const look: Effect.Effect<void, BusError> = Effect.gen(function* () {
    yield* fetchAgain
    const { lastSequence } = yield* reader.bounds("LOG")
    behind = Math.max(0, lastSequence - copy.sequence())
    behindGauge.set({}, behind)
    const { ended, moving } = copy.index.leftOut()
    leftOutGauge.set({ which: "ended" }, ended)
    leftOutGauge.set({ which: "moving" }, moving)
    if (wasComplete && !isComplete()) {
      yield* Effect.logWarning("there are more entities on their way than the views keep: some are not seen").pipe(
        Effect.annotateLogs({ rowsMax, moving })
      )
    }
    wasComplete = isComplete()
  })
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(look), Schedule.spaced(lookEvery)))
  return () => behind
})

interface LeftOut {
  readonly ended: number
  /** Rows of entities that have not ended. */
  readonly moving: number
}

export interface ViewIndex {
  readonly keep: (key: string, row: ViewRow) => void
  readonly forget: (key: string) => void
  readonly rowsOf: (entity: string) => ReadonlyArray<ViewRow>
  readonly find: (entity: string, id: string) => Option.Option<ViewRow>
  readonly leftOut: () => LeftOut
  /** Keys of at most this many rows that fit again, those of entities that have not ended first. */
  readonly wanted: (keysMax: number) => ReadonlyArray<string>
}

/** An ended entity has a deadline of that name, by which it is retired. */
const hasEnded = ({ deadlinesMs }: ViewRow) => deadlinesMs["ended"] !== undefined

// Bounds the keys of rows that repeatedly ended and returned.
const staleKeysMax = 1_000

/**
 * The rows that a process keeps, at most `rowsMax`. Ended ones are omitted first; an omitted row is known by its key,
 * and read again when there is room.
 */
export const viewIndex = (rowsMax: number): ViewIndex => {
  const rows = new Map<string, Map<string, ViewRow>>()
  const places = new Map<string, { readonly entity: string; readonly id: string }>()
  const ended = new Set<string>()
  const out = new Map<string, boolean>()
  let moving = 0

  const comeBack = (key: string) => {
    if (out.get(key) === false) moving -= 1
    out.delete(key)
  }
  const leaveOut = (key: string, row: ViewRow) => {
    comeBack(key)
    out.set(key, hasEnded(row))
    if (!hasEnded(row)) moving += 1
  }
  const drop = (key: string): ViewRow | undefined => {
    const place = places.get(key)
    if (place === undefined) return undefined
    places.delete(key)
    ended.delete(key)
    const row = rows.get(place.entity)?.get(place.id)
    // A row that moved to another project is already under its new key.
    if (row === undefined || viewKey(row) !== key) return undefined
    rows.get(place.entity)?.delete(place.id)
    return row
  }
  const endings = endingOrder(ended)
  const makeRoom = (): boolean => {
    const key = endings.last()
    if (key === undefined) return false
    const row = drop(key)
    if (row !== undefined) leaveOut(key, row)
    return true
  }

  return {
    keep: (key, row) => {
      const ofEntity = rows.get(row.entity) ?? new Map<string, ViewRow>()
      // An entity that moved to another project: the row under its old key is older and is removed next.
      const before = ofEntity.get(row.id)
      if (before !== undefined && before.sequence > row.sequence) return
      const isFull = !places.has(key) && places.size >= rowsMax
      if (isFull && (hasEnded(row) || !makeRoom())) return leaveOut(key, row)
      comeBack(key)
      rows.set(row.entity, ofEntity.set(row.id, row))
      places.set(key, { entity: row.entity, id: row.id })
      if (hasEnded(row)) endings.note(key)
      else ended.delete(key)
    },
    forget: (key) => {
      comeBack(key)
      drop(key)
    },
    rowsOf: (entity) => [...(rows.get(entity)?.values() ?? [])],
    find: (entity, id) => Option.fromNullishOr(rows.get(entity)?.get(id)),
    leftOut: () => ({ ended: out.size - moving, moving }),
    wanted: (keysMax) => {
      const room = rowsMax - places.size
      const movingMax = Math.min(room + ended.size, moving, keysMax)
      return keysOf(out, movingMax, Math.min(room - movingMax, keysMax - movingMax))
    }
  }
}

/** Keys of ended rows. The last to end is omitted first: the first to end is the next to be retired. */
const endingOrder = (ended: Set<string>) => {
  // Some of these have changed since, or are gone.
  let keys: Array<string> = []
  return {
    note: (key: string) => {
      if (ended.has(key)) return
      ended.add(key)
      keys.push(key)
      if (keys.length > 2 * ended.size + staleKeysMax) keys = [...ended]
    },
    last: (): string | undefined => {
      for (let key = keys.pop(); key !== undefined; key = keys.pop()) if (ended.has(key)) return key
      return undefined
    }
  }
}

/** The first keys of omitted rows: `true` for ended entities; the others are moving. */
const keysOf = (out: ReadonlyMap<string, boolean>, movingMax: number, endedMax: number): ReadonlyArray<string> => {
  if (movingMax <= 0 && endedMax <= 0) return []
  const keys = { moving: [] as Array<string>, ended: [] as Array<string> }
  for (const [key, isEnded] of out) {
    if (!isEnded && keys.moving.length < movingMax) keys.moving.push(key)
    if (isEnded && keys.ended.length < endedMax) keys.ended.push(key)
  }
  return [...keys.moving, ...keys.ended]
}
