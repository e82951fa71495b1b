/**
 * Keeps an endless loop of a role running: when it fails or dies it is logged and begun again, at first
 * at once and then at most ten seconds apart. A loop that ends in silence is how workers stop unnoticed.
 */
import { Effect, Schedule } from "effect"

const backoff = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("10 seconds")])

export const supervise = <E, R>(name: string, loop: Effect.Effect<never, E, R>): Effect.Effect<never, never, R> =>
  loop.pipe(
    Effect.sandbox,
    Effect.tapError((cause) => Effect.logError("a loop stopped, it is begun again", cause)),
    Effect.retry(backoff),
    Effect.orDie,
    Effect.annotateLogs({ loop: name })
  )
