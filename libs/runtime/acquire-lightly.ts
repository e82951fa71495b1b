/**
 * Like `Effect.acquireRelease`, for a release that needs no service, on paths that every request takes. Effect's own
 * keeps the context for its release and merges it back at the end: two copies of every service.
 */
import { Effect, Scope } from "effect"

export const acquireLightly = <A, E, R>(
  acquire: Effect.Effect<A, E, R>,
  release: (acquired: A) => Effect.Effect<unknown>
): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.scope, (scope) =>
      Effect.tap(acquire, (acquired) => Scope.addFinalizer(scope, release(acquired)))
    )
  )
