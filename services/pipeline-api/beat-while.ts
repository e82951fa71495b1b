/**
 * The heartbeat of a loop that is watched from outside. It beats while the loop makes progress, not merely because a
 * timer runs. While the broker is away, the process is unready but alive: a failed request is not a stall.
 */
import { Effect, type Scope } from "effect"
import type { BusError } from "#bus"
import type { HealthLoop } from "#runtime"

/** A loop that has neither worked nor been idle for this long is stuck. */
export const stallMsDefault = 30_000
const looksPerStall = 6

/** Checks while the scope is open. */
export const beatWhile = (
  loop: HealthLoop,
  stallMs: number,
  isWell: Effect.Effect<boolean, BusError>
): Effect.Effect<unknown, never, Scope.Scope> => {
  const look = isWell.pipe(
    Effect.catchTag("BusUnavailable", () => Effect.succeed(true)),
    Effect.catch((error) => Effect.as(Effect.logWarning("it is not known whether a loop gets on", error), false)),
    Effect.map((well) => (well ? loop.beat() : undefined))
  )
  return Effect.forkScoped(Effect.forever(Effect.andThen(look, Effect.sleep(stallMs / looksPerStall))))
}

/** Counts finished work; `hasMoved`: whether any finished since the last call. */
export const movement = () => {
  let count = 0
  let seen = 0
  return {
    moved: () => void (count += 1),
    hasMoved: () => {
      const is = count !== seen
      seen = count
      return is
    }
  }
}
