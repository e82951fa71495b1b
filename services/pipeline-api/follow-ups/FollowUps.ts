/**
 * Reads the log in order, by one replica at a time (lease `follow-ups`), and carries out each record's follow-ups for
 * other entities. The cursor moves after the work is done: a process that dies repeats a little, and loses nothing. An
 * unreadable record is logged and skipped, because it would hold up all others. The loop is alive while it moves along
 * the log, is at its end, or waits for its lease, a busy entity or the broker.
 */
import { Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { type BusError, Kv, type KvBucket, Leases, type SourceMessage, StreamReader } from "#bus"
import { Count } from "#contracts"
import { Health, Metrics, supervise } from "#runtime"
import { readRecord } from "../History.ts"
import { beatWhile, movement, stallMsDefault } from "../beat-while.ts"
import { followUpsBehind } from "../metrics.ts"
import { FollowUpCommands } from "./FollowUpCommands.ts"
import { followUpsOf, mayBeFollowed } from "./follow-ups-of.ts"

// Records that come within a moment share one run, and one move of the cursor.
const run = { messagesMax: 256, withinMs: 20 }

/** `onPosition` is called after each record with the position reached. */
const follow = Effect.fnUntraced(function* (bucket: KvBucket<Cursor>, onPosition: (sequence: number) => void) {
  const reader = yield* StreamReader
  const { carryOut } = yield* FollowUpCommands
  const behind = (yield* Metrics).gauge(followUpsBehind)

  const one = Effect.fnUntraced(function* (message: SourceMessage) {
    if (!mayBeFollowed(message.subject, message.data)) return
    const record = readRecord(message)
    if (record === undefined) return
    const followUps = followUpsOf(record)
    if (Result.isFailure(followUps)) {
      const { entity, id, sequence } = record
      return yield* Effect.logError("a record cannot be followed up", followUps.failure).pipe(
        Effect.annotateLogs({ entity, id, sequence })
      )
    }
    if (followUps.success.length > 0) yield* carryOut(followUps.success, record.sequence)
  })
  const take = Effect.fnUntraced(function* (messages: ReadonlyArray<SourceMessage>) {
    for (const message of messages) {
      yield* one(message)
      onPosition(message.sequence)
    }
    const position = messages.at(-1)?.sequence ?? 0
    yield* moveCursor(bucket, position)
    const { lastSequence } = yield* reader.bounds("LOG")
    behind.set({}, Math.max(0, lastSequence - position))
  })
  const done = yield* readCursor(bucket)
  onPosition(done)
  yield* Stream.runForEach(reader.followInBatches("LOG", done + 1, run), take)
})

export const FollowUps = {
  /** Follows the log for the life of the scope. */
  layer: (holder: string, stallMs = stallMsDefault) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const bucket = yield* (yield* Kv).open("cursors", Cursor)
        const reader = yield* StreamReader
        const leases = yield* Leases
        const loop = yield* (yield* Health).loop("follow-ups", { stallMs })
        const { moved, hasMoved } = movement()
        let position: number | undefined
        const followed = follow(bucket, (sequence) => {
          position = sequence
          moved()
        }).pipe(
          // A busy entity or absent broker is retried from the cursor on, so the loop is alive.
          Effect.tapErrorTag(["BusUnavailable", "EntityBusy"], () => Effect.sync(moved)),
          Effect.ensuring(Effect.sync(() => (position = undefined)))
        )
        const isAtEnd = Effect.suspend(() =>
          position === undefined
            ? Effect.succeed(false)
            : Effect.map(reader.bounds("LOG"), ({ lastSequence }) => lastSequence <= (position ?? 0))
        )
        yield* beatWhile(
          loop,
          stallMs,
          Effect.suspend(() => (hasMoved() ? Effect.succeed(true) : isAtEnd))
        )
        const work = leases.whileHeld({ key: "follow-ups", holder, onWait: moved }, followed)
        yield* Effect.forkScoped(supervise("follow-ups", work))
      })
    )
}

/** The position up to which the log has been followed up: in KV `cursors`, only ever moved forward. */
export const Cursor = Schema.Struct({ position: Count })
export interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

const key = "follow-ups"

export const readCursor = (bucket: KvBucket<Cursor>): Effect.Effect<number, BusError> =>
  Effect.map(bucket.get(key), Option.match({ onNone: () => 0, onSome: ({ value }) => value.position }))

/** A process that was overtaken has lost its lease; repeating its work changes nothing. */
const moveCursor = (bucket: KvBucket<Cursor>, position: number): Effect.Effect<void, BusError> =>
  Effect.flatMap(bucket.get(key), (held) => {
    if (Option.isNone(held)) return Effect.asVoid(bucket.create(key, { position }))
    return held.value.value.position >= position
      ? Effect.void
      : Effect.asVoid(bucket.update(key, { position }, held.value.revision))
  })
