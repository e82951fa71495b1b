/**
 * One at a time for each key, and whoever waits is served in the order of coming. What would only wait too long is
 * told so at once.
 */
import { Effect, Semaphore } from "effect"

export interface Turns {
  /** `busy` when too many wait for that key already. */
  readonly within: <A, E, R, E2>(
    key: string,
    busy: () => E2,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | E2, R>
}

interface Line {
  readonly semaphore: Semaphore.Semaphore
  present: number
}

/** `waitingMax`: at one key, the one at work included. */
export const makeTurns = (waitingMax: number): Turns => {
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
    within: <A, E, R, E2>(key: string, busy: () => E2, work: Effect.Effect<A, E, R>) =>
      Effect.suspend((): Effect.Effect<A, E | E2, R> => {
        const line = enter(key)
        if (line === undefined) return Effect.fail(busy())
        return line.semaphore
          .withPermits(1)(work)
          .pipe(Effect.ensuring(leave(key, line)))
      })
  }
}
