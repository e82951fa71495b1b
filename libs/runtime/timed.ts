/** How long work took, whatever came of it. */
import { Clock, Effect } from "effect"

export const timed = Effect.fnUntraced(function* <A, E, R>(
  observe: (seconds: number) => void,
  work: Effect.Effect<A, E, R>
) {
  const startedAt = yield* Clock.currentTimeNanos
  const result = yield* Effect.exit(work)
  observe(Number((yield* Clock.currentTimeNanos) - startedAt) / 1e9)
  return yield* result
})
