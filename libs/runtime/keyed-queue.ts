/** Runs work on one key at a time, first come, first served. An idle key is dropped. */
import { Effect, Semaphore } from "effect"

interface KeyedQueue {
  /** `whenFull` runs instead of the work when too many already wait for that key. */
  readonly run: <A, E, R, B, E2, R2>(
    key: string,
    whenFull: Effect.Effect<B, E2, R2>,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<A | B, E | E2, R | R2>
  /** No work for that key runs or waits. */
  readonly isIdle: (key: string) => boolean
}

interface Line {
  readonly semaphore: Semaphore.Semaphore
  present: number
}

/** `waitingMax`: per key, including the running one. */
export const keyedQueue = (waitingMax: number): KeyedQueue => {
  const lines = new Map<string, Line>()
  const enter = (key: string) => {
    const line = lines.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), present: 0 }
    if (line.present >= waitingMax) return undefined
    line.present += 1
    lines.set(key, line)
    return line
  }
  const leave = (key: string, line: Line) =>
    Effect.sync(() => {
      line.present -= 1
      if (line.present === 0) lines.delete(key)
    })
  return {
    isIdle: (key) => !lines.has(key),
    run: <A, E, R, B, E2, R2>(key: string, whenFull: Effect.Effect<B, E2, R2>, work: Effect.Effect<A, E, R>) =>
      Effect.suspend((): Effect.Effect<A | B, E | E2, R | R2> => {
        const line = enter(key)
        if (line === undefined) return whenFull
        return line.semaphore
          .withPermits(1)(work)
          .pipe(Effect.ensuring(leave(key, line)))
      })
  }
}
