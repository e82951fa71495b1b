/**
 * What the readings of the fleet showed, by the minute and by the hour. Each console counts for itself; the one that
 * holds the lease `console-history` writes to KV `history`, and the others take what it wrote, as does one that starts.
 */
import { Clock, Context, Effect, Layer, Option, Result, Schedule, Stream } from "effect"
import { type BusError, Kv, Leases, Mailbox, records } from "#bus"
import type { History, HistoryRange, ThingKind } from "#console/api"
import { HistorySpan, hour, minute, minutes, type Reading, rings, spanOf } from "#console/history"
import { supervise } from "#runtime"

interface Asked {
  readonly kind: ThingKind
  readonly id?: string | undefined
  readonly range: HistoryRange
}

export class FleetHistory extends Context.Service<
  FleetHistory,
  {
    /** Counts a reading, and writes what is over. */
    readonly add: (reading: Reading) => Effect.Effect<void>
    /** Whether this process writes what all consoles see. */
    readonly isWriter: () => boolean
    readonly view: (asked: Asked) => Effect.Effect<History>
  }
>()("starling/console/FleetHistory") {
  static readonly layer = Layer.effect(
    FleetHistory,
    Effect.gen(function* () {
      const kv = yield* Kv
      const isWriter = yield* holding
      const kept = rings()
      const counting = minutes()
      let leftOut: ReadonlySet<string> = new Set()
      let unwritten: ReadonlyArray<Unwritten> = []

      const open = kv.open("history", HistorySpan)
      const load = Effect.gen(function* () {
        const bucket = yield* open
        for (const unit of [minute, hour]) {
          yield* Stream.runForEach(bucket.scan(`${prefixOf(unit)}*`), ({ value }) =>
            Effect.sync(() => kept.put(unit, value))
          )
        }
        kept.prune(yield* Clock.currentTimeMillis)
      })
      yield* Effect.forkScoped(
        load.pipe(
          Effect.tapError((error) => Effect.logDebug("the history cannot be read now", error)),
          Effect.retry(Schedule.spaced("10 seconds"))
        )
      )

      const add = Effect.fnUntraced(function* (reading: Reading) {
        const nowMs = yield* Clock.currentTimeMillis
        for (const counted of counting.add(reading)) {
          const { span, leftOut: more } = spanOf(counted, kept.known())
          leftOut = new Set([...leftOut, ...more].slice(-leftOutMax))
          kept.put(minute, span)
          const hours = kept.hoursDue(nowMs)
          for (const each of hours) kept.put(hour, each)
          if (hours.length > 0) kept.prune(nowMs)
          const due = [{ unit: minute, span }, ...hours.map((each) => ({ unit: hour, span: each }))]
          unwritten = [...unwritten, ...due].slice(-unwrittenMax)
        }
        if (unwritten.length === 0) return
        const left = unwritten
        yield* Effect.flatMap(open, (bucket) =>
          Effect.forEach(
            left.slice(0, writesAtOnceMax),
            Effect.fnUntraced(function* (each) {
              const stored = yield* isWriter() ? write(bucket, each) : readOne(bucket, each)
              if (stored !== undefined) kept.put(each.unit, stored)
              const isDone = stored !== undefined || nowMs > (each.span.number + 3) * each.unit.ms
              if (isDone) unwritten = unwritten.filter((one) => one !== each)
            }),
            { discard: true }
          )
        ).pipe(
          Effect.timeout("2 seconds"),
          Effect.catch((error) => Effect.logDebug("the history cannot be kept now", error))
        )
      })

      const view = (asked: Asked) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          const present = counting.present()
          return kept.view({
            ...asked,
            nowMs,
            leftOut: leftOut.size,
            present: present === undefined ? undefined : spanOf(present, kept.known()).span
          })
        })
      return FleetHistory.of({ add, isWriter, view })
    })
  )
}

// An hour without the broker.
const unwrittenMax = 64
const writesAtOnceMax = 8
// For the count that operators see.
const leftOutMax = 10_000

interface Unwritten {
  readonly unit: typeof minute
  readonly span: HistorySpan
}

/** Each span is written over when its turn comes again, so that the bucket is bounded by its keys. */
const keyOf = ({ unit, span }: Unwritten) => `${prefixOf(unit)}${span.number % unit.kept}`
const prefixOf = ({ name }: typeof minute) => `${name.slice(0, 1)}.`

type Bucket = Effect.Success<ReturnType<typeof openOf>>
const openOf = (kv: Kv["Service"]) => kv.open("history", HistorySpan)

/** Stores a span, unless another console saw more of it. */
const write = (bucket: Bucket, due: Unwritten): Effect.Effect<HistorySpan | undefined, BusError> =>
  records(bucket)
    .change(keyOf(due), (before) =>
      Result.succeed({ answer: undefined, next: isBetter(before, due.span) ? undefined : due.span })
    )
    .pipe(
      Effect.map(({ value }) => value),
      // It would be refused again, and others must not wait behind it.
      Effect.catchTag("BusRefused", (error) =>
        Effect.as(Effect.logWarning("a span of the history was refused", error), due.span)
      )
    )

const isBetter = (before: HistorySpan | undefined, span: HistorySpan) =>
  before !== undefined && before.number === span.number && before.seconds >= span.seconds

const readOne = (bucket: Bucket, due: Unwritten) =>
  Effect.map(bucket.get(keyOf(due)), (found) =>
    Option.getOrUndefined(
      Option.filter(
        Option.map(found, ({ value }) => value),
        ({ number }) => number === due.span.number
      )
    )
  )

/** Whether this process is the one that writes. */
const holding = Effect.gen(function* () {
  const { instance } = yield* Mailbox
  let isHolder = false
  const hold = Effect.sync(() => (isHolder = true)).pipe(
    Effect.andThen(Effect.never),
    Effect.ensuring(Effect.sync(() => (isHolder = false)))
  )
  const held = (yield* Leases).whileHeld({ key: "console-history", holder: instance }, hold)
  yield* Effect.forkScoped(supervise("history", held))
  return () => isHolder
})
