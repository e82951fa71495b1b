/**
 * The views, read: a watched copy in memory, as fresh as it says. Lists and sweeps go by it; who has to be right asks
 * the actor. What is beyond its bound is not in it, and it says so; what has ended is the first to be left out.
 */
import { Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { type BusError, Kv, StreamReader } from "#bus"
import { Metrics } from "#runtime"
import { viewsBehind, viewsLeftOut } from "../metrics.ts"
import { viewIndex } from "./view-index.ts"
import { cursorKey, Viewed, type ViewRow } from "./view-row.ts"

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
  /** There are more entities than are kept here; what is missing is not listed. Those that have ended go first. */
  readonly isTruncated: boolean
}

export interface ViewsOptions {
  /** Rows kept; a row takes about a kilobyte. */
  readonly rowsMax?: number
}

const rowsMaxDefault = 250_000
const lookEvery = "1 second"
// Rows come in such handfuls as they are written in.
const run = { messagesMax: 512, withinMs: 5 }
// What there is room for again comes back within the second, a few thousand rows at a time.
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
    /** No row is left out but of what has ended: what is on its way can be counted. */
    readonly isWhole: () => boolean
  }
>()("starling/actor/Views") {
  static readonly layer = ({ rowsMax = rowsMaxDefault }: ViewsOptions = {}) => Layer.effect(Views, make(rowsMax))
}

const make = Effect.fnUntraced(function* (rowsMax: number) {
  const bucket = yield* (yield* Kv).open("views", Viewed)
  const reader = yield* StreamReader
  const metrics = yield* Metrics
  const behindGauge = metrics.gauge(viewsBehind)
  const leftOutGauge = metrics.gauge(viewsLeftOut)
  const index = viewIndex(rowsMax)
  let sequence = 0
  let behind = 0
  let wasWhole = true

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
    // Once it broke, what the bucket has become is not known: then all of it is looked at.
    revision = 0
    return bucket.changesInRuns(from, run)
  })
  const watching = Stream.runForEach(watch, (changes) =>
    Effect.sync(() => {
      for (const { key, entry } of changes) {
        take(
          key,
          Option.map(entry, ({ value }) => value)
        )
      }
    })
  )
  yield* Effect.forkScoped(Effect.retry(watching, Schedule.spaced("500 millis")))
  const isWhole = () => index.leftOut().moving === 0
  const fetchAgain = Effect.suspend(() =>
    Effect.forEach(
      index.wanted(fetchedMax),
      (key) =>
        Effect.map(bucket.get(key), (entry) =>
          take(
            key,
            Option.map(entry, ({ value }) => value)
          )
        ),
      { concurrency: fetchesAtOnce, discard: true }
    )
  )
  const look: Effect.Effect<void, BusError> = Effect.gen(function* () {
    yield* fetchAgain
    const { lastSequence } = yield* reader.bounds("LOG")
    behind = Math.max(0, lastSequence - sequence)
    behindGauge.set({}, behind)
    const { ended, moving } = index.leftOut()
    leftOutGauge.set({ which: "ended" }, ended)
    leftOutGauge.set({ which: "moving" }, moving)
    if (wasWhole && !isWhole()) {
      yield* Effect.logWarning("there are more entities on their way than the views keep: some are not seen").pipe(
        Effect.annotateLogs({ rowsMax, moving })
      )
    }
    wasWhole = isWhole()
  })
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(look), Schedule.spaced(lookEvery)))

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
      return { sequence, behind, isTruncated: ended + moving > 0 }
    },
    isWhole
  })
})
