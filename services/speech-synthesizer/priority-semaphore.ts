/**
 * Bounds the jobs that an engine works on at once. The job that is due soonest goes first: the listener of a session's
 * first chunk needs it now, while a chunk made ahead can wait as long as its listener has buffered audio. Jobs due at
 * the same time go first come, first served.
 */
import { Deferred, Effect } from "effect"

export interface PrioritySemaphore {
  /** `dueAtMs`: when the job's audio is needed. */
  readonly withPermit: <A, E, R>(dueAtMs: number, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Whether a waiting job is due by then. */
  readonly isAnyDue: (nowMs: number) => boolean
}

interface Waiter {
  readonly dueAtMs: number
  readonly turn: Deferred.Deferred<void>
}

/** `permits` can change at any time. `onWaiting` gets the number of waiting jobs whenever it changes. */
export const prioritySemaphore = (
  permits: () => number,
  onWaiting: (count: number) => void = () => {}
): PrioritySemaphore => {
  let taken = 0
  // In order of due time. At most as many as the consumer can hold unacked, 1,000.
  const line: Array<Waiter> = []

  const enqueue = (waiter: Waiter) => {
    const at = line.findLastIndex(({ dueAtMs }) => dueAtMs <= waiter.dueAtMs)
    line.splice(at + 1, 0, waiter)
    onWaiting(line.length)
  }
  const leave = (waiter: Waiter) => {
    const at = line.indexOf(waiter)
    if (at < 0) return false
    line.splice(at, 1)
    onWaiting(line.length)
    return true
  }
  const release = Effect.sync(() => {
    taken -= 1
    while (taken < permits() && line.length > 0) {
      const next = line.shift()
      taken += 1
      onWaiting(line.length)
      if (next !== undefined) Deferred.doneUnsafe(next.turn, Effect.void)
    }
  })
  const take = (dueAtMs: number) =>
    Effect.suspend(() => {
      if (taken < permits()) {
        taken += 1
        return Effect.void
      }
      const waiter: Waiter = { dueAtMs, turn: Deferred.makeUnsafe() }
      enqueue(waiter)
      // Interrupted while waiting: leaves the line, or passes on a permit granted at that very moment.
      return Effect.onInterrupt(Deferred.await(waiter.turn), () => (leave(waiter) ? Effect.void : release))
    })
  return {
    isAnyDue: (nowMs) => (line[0]?.dueAtMs ?? Number.POSITIVE_INFINITY) <= nowMs,
    withPermit: (dueAtMs, work) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(restore(take(dueAtMs)), Effect.ensuring(restore(work), release))
      )
  }
}
