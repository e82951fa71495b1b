/**
 * A role that starts while the broker chooses who leads is told that it is unavailable. It lets go of what it had and
 * begins again: a process that ended would be kept waiting ever longer by who starts it, long after the broker is back.
 */
import { Cause, Effect, Exit, Layer, Result, Scope } from "effect"
import { BusUnavailable } from "#bus"

const againAfter = "1 second"
// Servers of a cluster are restarted and chosen within seconds. After a minute and more it is something else.
const triesMax = 60

export const patientStart = <E, R>(role: Layer.Layer<never, E, R>): Layer.Layer<never, E, R> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      for (let tried = 1; ; tried += 1) {
        const attempt = yield* Scope.fork(scope)
        const built = yield* Effect.exit(Layer.buildWithScope(Layer.fresh(role), attempt))
        if (Exit.isSuccess(built)) return
        yield* Scope.close(attempt, built)
        const reason = unavailable(built.cause)
        if (reason === undefined || tried === triesMax) return yield* Effect.failCause(built.cause)
        yield* Effect.logWarning("starting again").pipe(Effect.annotateLogs({ reason }))
        yield* Effect.sleep(againAfter)
      }
    })
  )

const unavailable = (cause: Cause.Cause<unknown>) => {
  const error = Cause.findError(cause)
  return Result.isSuccess(error) && error.success instanceof BusUnavailable ? error.success.message : undefined
}
