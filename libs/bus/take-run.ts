/**
 * What comes within a moment, taken from a queue together: a stream that hands on one message after another costs more
 * than most do with them, and what is done for a run is done once.
 */
import { Effect, Queue } from "effect"
import type { BusError } from "./errors.ts"

export interface RunOptions {
  readonly messagesMax: number
  /** How long the first one waits for others. */
  readonly withinMs: number
}

export const takeRun = Effect.fnUntraced(function* <A>(
  queue: Queue.Queue<A, BusError>,
  { messagesMax, withinMs }: RunOptions
): Effect.fn.Return<ReadonlyArray<A>, BusError> {
  const first = yield* Queue.takeBetween(queue, 1, messagesMax)
  if (first.length >= messagesMax) return first
  yield* Effect.sleep(withinMs)
  if (Queue.sizeUnsafe(queue) === 0) return first
  return [...first, ...(yield* Queue.takeBetween(queue, 1, messagesMax - first.length))]
})
