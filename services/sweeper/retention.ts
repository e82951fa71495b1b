/**
 * Retention, in two sweeps: one retires items and releases that ended long ago, the other purges the history of what
 * was retired. Repeated requests, challenges and raw answers need no sweep: they expire in their buckets.
 */
import { Clock, Effect, Option, Result, Schema, Stream } from "effect"
import { eventRelayPlace, type ViewRow, Views } from "#actors"
import { type BusError, BusRefused, jsonCodec, Kv, type SourceMessage, StreamReader } from "#bus"
import { Configuration } from "#configuration"
import { Count } from "#base"
import { spendCursorKey, SpendEntry } from "#pipeline/contract"
import { Checkpoints, type Sweep } from "./sweeps.ts"
import { CommandClient, findingsOf, type PlannedCommand, toRelease, toWorkItem } from "./command-client.ts"

const dayMs = 86_400_000
/** One day more than spend counts. */
const usageKeptMs = 31 * dayMs
const key = "purge"
// The limit of one run: a few seconds of reading. The next run continues.
const recordsMax = 100_000
const purgesAtOnce = 8

/**
 * Removes the history of retired entities from LOG, 31 days after they were retired, so that their cost can be
 * recounted from LOG for as long as it counts. Their last record stays, so that they stay gone. The sweep walks LOG in
 * order, 31 days behind, and meets every retired record once; it removes nothing above the position of LOG's slowest
 * reader.
 */
export const purgeSweep: Effect.Effect<Sweep, never, Configuration | Kv | Checkpoints | StreamReader | Views> =
  Effect.gen(function* () {
    const { Sweeper } = yield* Configuration
    const kv = yield* Kv
    const checkpoints = yield* Checkpoints
    const reader = yield* StreamReader
    const views = yield* Views

    const sweep = Effect.gen(function* () {
      const beforeMs = (yield* Clock.currentTimeMillis) - usageKeptMs
      const stored = yield* checkpoints.read(key)
      const checkpoint = Option.getOrUndefined(stored)?.value
      const from = checkpoint?._tag === "Purge" ? checkpoint.position : 0
      const toSequence = Math.min(yield* readSlowest(reader, kv, views), from + recordsMax)
      if (toSequence <= from) return {}
      let position = from
      let purged = 0
      const take = Effect.fnUntraced(function* (message: SourceMessage) {
        if (isRetiredRecord(message)) purged += yield* reader.purge("LOG", message.subject, message.sequence)
        position = Math.max(position, message.sequence)
      })
      yield* reader.range("LOG", { fromSequence: from + 1, toSequence }).pipe(
        Stream.takeWhile(({ storedAtMs }) => storedAtMs <= beforeMs),
        Stream.mapEffect(take, { concurrency: purgesAtOnce }),
        Stream.runDrain
      )
      if (position > from) yield* checkpoints.set(key, stored, { _tag: "Purge", position })
      return { "purged-record": purged }
    })
    return { name: "purge", everyMs: Sweeper.RetentionSeconds * 1_000, begin: Effect.succeed(sweep) }
  })

const codec = jsonCodec(Schema.Struct({ isRetired: Schema.Boolean }))
const retiredMember = '"isRetired":true'

const isRetiredRecord = (message: SourceMessage): boolean => {
  const { buffer, byteOffset, byteLength } = message.data
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(retiredMember)) return false
  const record = codec.decode(message)
  return Result.isSuccess(record) && record.success.isRetired
}

/**
 * The retention sweep retires items and releases that ended long ago. Repeated requests, challenges and raw answers
 * need no sweep: they expire in their buckets.
 */
export const retentionSweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Views> = Effect.gen(
  function* () {
    const { Sweeper, Pipeline } = yield* Configuration
    const client = yield* CommandClient
    const views = yield* Views

    const sweep = Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const workItemsBeforeMs = nowMs - Pipeline.ItemsKeptDays * dayMs
      const releasesBeforeMs = nowMs - Pipeline.ReleasesKeptDays * dayMs
      const commands = retirements({
        workItems: views.due("workitem", "ended", workItemsBeforeMs),
        releases: views.due("release", "ended", releasesBeforeMs),
        workItemsBeforeMs,
        releasesBeforeMs
      })
      return findingsOf(yield* client.send("retention", commands))
    })
    return { name: "retention", everyMs: Sweeper.RetentionSeconds * 1_000, begin: Effect.succeed(sweep) }
  }
)

type Ended = Pick<ViewRow, "id" | "sequence" | "deadlinesMs">

interface RetirementInput {
  readonly workItems: ReadonlyArray<Ended>
  readonly releases: ReadonlyArray<Ended>
  /** Items that ended no later than this are retired. */
  readonly workItemsBeforeMs: number
  readonly releasesBeforeMs: number
}

const endedAtMs = ({ deadlinesMs }: Ended) => deadlinesMs["ended"] ?? Infinity

const longAgo = (rows: ReadonlyArray<Ended>, beforeMs: number) =>
  rows.filter((row) => endedAtMs(row) <= beforeMs).toSorted((left, right) => endedAtMs(left) - endedAtMs(right))

/** Items and releases that ended long enough ago to be retired, earliest first. Pure. */
export const retirements = (input: RetirementInput): ReadonlyArray<PlannedCommand> => {
  const { workItemsBeforeMs, releasesBeforeMs } = input
  return [
    ...longAgo(input.workItems, workItemsBeforeMs).map((row) =>
      toWorkItem(row, "retired-item", { _tag: "Retire", endedBeforeMs: workItemsBeforeMs })
    ),
    ...longAgo(input.releases, releasesBeforeMs).map((row) =>
      toRelease(row, "retired-release", { _tag: "Retire", endedBeforeMs: releasesBeforeMs })
    )
  ]
}

// The positions of LOG's readers: a record above any of them must not be purged.

/**
 * The record up to which the relay has made events; the last few of them can still be in flight. Read from the leader.
 */
export const readRelayed = Effect.fnUntraced(function* (
  reader: StreamReader["Service"]
): Effect.fn.Return<number, BusError> {
  const { stream, subject, codec } = eventRelayPlace
  const last = yield* reader.last(stream, subject)
  if (Option.isNone(last)) return 0
  const record = codec.decode(last.value)
  if (Result.isFailure(record)) {
    const detail = JSON.stringify(record.failure)
    return yield* new BusRefused({ operation: "read the cursor of the event relay", detail, code: 0 })
  }
  return record.success.cursor.position
})

const FollowUpCursor = Schema.Struct({ position: Count })

/** The record that all readers have reached: the relay, the views, the follow-ups, and spend. */
export const readSlowest = Effect.fnUntraced(function* (
  reader: StreamReader["Service"],
  kv: Kv["Service"],
  views: Views["Service"]
): Effect.fn.Return<number, BusError> {
  const relayed = yield* readRelayed(reader)
  const spend = yield* (yield* kv.open("spend", SpendEntry)).get(spendCursorKey)
  const followUps = yield* (yield* kv.open("cursors", FollowUpCursor)).get("follow-ups")
  const followed = Option.match(followUps, { onNone: () => 0, onSome: ({ value }) => value.position })
  const counted = Option.match(spend, { onNone: () => 0, onSome: ({ value }) => value.position })
  return Math.min(relayed, followed, counted, views.freshness().sequence)
})
