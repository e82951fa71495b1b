/**
 * Keeps an endless loop of a role running: a loop that fails or dies is logged and begun again, at first almost at once
 * and then at most ten seconds apart. Otherwise a loop would end in silence, and a worker stop unnoticed.
 */
import { Clock, Effect } from "effect"

const firstWaitMs = 100
const waitMsMax = 10_000
// A loop that ran for this long was healthy again: its next failure is a new one, and waits as little as the first did.
const wellAfterMs = 60_000

export const supervise = <E, R>(name: string, loop: Effect.Effect<never, E, R>): Effect.Effect<never, never, R> =>
  Effect.gen(function* () {
    let waitMs = firstWaitMs
    while (true) {
      const begunAtMs = yield* Clock.currentTimeMillis
      const cause = yield* Effect.flip(Effect.sandbox(loop))
      yield* Effect.logError("a loop stopped, it is begun again", cause)
      if ((yield* Clock.currentTimeMillis) - begunAtMs >= wellAfterMs) waitMs = firstWaitMs
      yield* Effect.sleep(waitMs)
      waitMs = Math.min(2 * waitMs, waitMsMax)
    }
  }).pipe(Effect.annotateLogs({ loop: name }))
