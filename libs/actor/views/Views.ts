/**
 * The views, read: a watched copy in memory, as fresh as it says. Lists and sweeps go by it; who has to be right asks
 * the actor. What is beyond its bound is not in it, and it says so.
 */
import { Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { type BusError, Kv, StreamReader } from "#bus"
import { Metrics } from "#runtime"
import { viewsBehind } from "../metrics.ts"
import { cursorKey, Viewed, viewKey, type ViewRow } from "./view-row.ts"

export interface ViewQuery {
  readonly entity: string
  readonly project?: string
  readonly states?: ReadonlyArray<string>
}

export interface ViewFreshness {
  /** The record up to which the views show everything. */
  readonly sequence: number
  /** Records that are not shown yet, when last looked at. */
  readonly behind: number
  /** There are more entities than are kept here; what is missing is not listed. */
  readonly isTruncated: boolean
}

export interface ViewsOptions {
  /** Rows kept; a row takes about a kilobyte. */
  readonly rowsMax?: number
}

const rowsMaxDefault = 250_000
const lookEvery = "1 second"

export class Views extends Context.Service<
  Views,
  {
    /** In order of creation, oldest first. */
    readonly list: (query: ViewQuery) => ReadonlyArray<ViewRow>
    readonly find: (entity: string, id: string) => Option.Option<ViewRow>
    /** Rows of an entity whose deadline of that name has passed. */
    readonly due: (entity: string, deadline: string, nowMs: number) => ReadonlyArray<ViewRow>
    readonly freshness: () => ViewFreshness
  }
>()("starling/actor/Views") {
  static readonly layer = ({ rowsMax = rowsMaxDefault }: ViewsOptions = {}) => Layer.effect(Views, make(rowsMax))
}

const make = Effect.fnUntraced(function* (rowsMax: number) {
  const bucket = yield* (yield* Kv).open("views", Viewed)
  const reader = yield* StreamReader
  const behindGauge = (yield* Metrics).gauge(viewsBehind)
  const rows = new Map<string, Map<string, ViewRow>>()
  const places = new Map<string, { readonly entity: string; readonly id: string }>()
  let sequence = 0
  let behind = 0
  let isTruncated = false

  const forget = (key: string) => {
    const place = places.get(key)
    if (place === undefined) return
    places.delete(key)
    const row = rows.get(place.entity)?.get(place.id)
    // One that moved to another project is under its new key already.
    if (row !== undefined && viewKey(row) === key) rows.get(place.entity)?.delete(place.id)
  }
  const keep = (key: string, row: ViewRow) => {
    if (!places.has(key) && places.size >= rowsMax) {
      isTruncated = true
      return
    }
    const ofEntity = rows.get(row.entity) ?? new Map<string, ViewRow>()
    // An entity that moved to another project: what is under its old key is older and goes next.
    const before = ofEntity.get(row.id)
    if (before !== undefined && before.sequence > row.sequence) return
    rows.set(row.entity, ofEntity.set(row.id, row))
    places.set(key, { entity: row.entity, id: row.id })
  }
  const take = (key: string, value: Option.Option<Viewed>) => {
    if (Option.isNone(value)) return forget(key)
    if (key === cursorKey) return void (sequence = "position" in value.value ? value.value.position : sequence)
    return "entity" in value.value ? keep(key, value.value) : undefined
  }

  yield* Stream.runForEach(bucket.scan(">"), ({ key, value }) => Effect.sync(() => take(key, Option.some(value))))
  const watch = Stream.runForEach(bucket.changes, ({ key, entry }) =>
    Effect.sync(() =>
      take(
        key,
        Option.map(entry, ({ value }) => value)
      )
    )
  )
  yield* Effect.forkScoped(Effect.retry(watch, Schedule.spaced("500 millis")))
  const look: Effect.Effect<void, BusError> = Effect.map(reader.bounds("LOG"), ({ lastSequence }) => {
    behind = Math.max(0, lastSequence - sequence)
    behindGauge.set({}, behind)
  })
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(look), Schedule.spaced(lookEvery)))

  const all = (entity: string) => [...(rows.get(entity)?.values() ?? [])]
  return Views.of({
    list: ({ entity, project, states }) =>
      all(entity)
        .filter(
          (row) =>
            (project === undefined || row.project === project) && (states === undefined || states.includes(row.state))
        )
        .toSorted((left, right) => left.createdAtMs - right.createdAtMs || (left.id < right.id ? -1 : 1)),
    find: (entity, id) => Option.fromNullishOr(rows.get(entity)?.get(id)),
    due: (entity, deadline, nowMs) => all(entity).filter((row) => (row.deadlinesMs[deadline] ?? Infinity) <= nowMs),
    freshness: () => ({ sequence, behind, isTruncated })
  })
})
