/**
 * Lets a pickup take into account everything acknowledged before it. The views are a moment behind the log, and a
 * follow-up wakes the items that were parked for an agent. A runner that asks right after an acknowledged resume must
 * still see its effect.
 */
import { Clock, Deferred, Effect, Schedule, Semaphore } from "effect"
import { Kv, StreamReader } from "#bus"
import { Ready, type Wanted } from "./Ready.ts"
import { Cursor, readCursor } from "../follow-ups/FollowUps.ts"

// The views show a record within about ten milliseconds; when they are this far behind, the pickup does not wait for
// them.
const catchUpMsMax = 2_000
// One request to the broker; follow-ups are done in runs of twenty milliseconds.
const cursorEveryMs = 20

/** Completes when earlier decisions are known here, or when that takes too long. */
export const catchUp = Effect.gen(function* () {
  const reader = yield* StreamReader
  const ready = yield* Ready
  const cursors = yield* (yield* Kv).open("cursors", Cursor)
  const newest = yield* coalescedRead(Effect.map(reader.bounds("LOG"), ({ lastSequence }) => lastSequence))

  return Effect.fn("Pickup.catchUp")(function* (wanted: Wanted) {
    const untilMs = (yield* Clock.currentTimeMillis) + catchUpMsMax
    const inTime = <E>(wait: Effect.Effect<unknown, E>) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => Effect.timeoutOption(wait, Math.max(0, untilMs - nowMs)))
    const asked = yield* newest
    yield* inTime(ready.seen(asked))
    if (!ready.isParked(wanted)) return
    const isFollowedUp = (position: number) => position >= asked
    yield* inTime(Effect.repeat(readCursor(cursors), { until: isFollowedUp, schedule: Schedule.spaced(cursorEveryMs) }))
    yield* inTime(ready.seen(yield* newest))
  })
})

/** One read serves all questions that arrived before it began: at most one is in progress. */
const coalescedRead = Effect.fnUntraced(function* <A, E>(read: Effect.Effect<A, E>) {
  const scope = yield* Effect.scope
  const inTurn = yield* Semaphore.make(1)
  let next: Deferred.Deferred<A, E> | undefined
  return Effect.suspend(() => {
    if (next !== undefined) return Deferred.await(next)
    const mine = Deferred.makeUnsafe<A, E>()
    next = mine
    const begun = Effect.suspend(() => {
      next = undefined
      return Deferred.into(read, mine)
    })
    return Effect.andThen(Effect.forkIn(inTurn.withPermit(begun), scope), Deferred.await(mine))
  })
})
