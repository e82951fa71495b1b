/**
 * Keeps an endless loop of a role running: a loop that fails or dies is logged and restarted, at first almost at once,
 * then at most ten seconds apart. Otherwise a loop would end silently, and a worker would stop unnoticed.
 */
import { Clock, Effect, Option } from "effect"
import { checkFailing } from "./Checks.ts"
import { Health } from "./Health.ts"
import { Metrics } from "./Metrics.ts"

const firstWaitMs = 100
const waitMsMax = 10_000
// A loop that ran for this long had recovered: its next failure is a new one, with the shortest delay again.
const wellAfterMs = 60_000
// One or two stops are a restarting broker or a lost race. By the fourth, 700 ms later, the cause is persistent.
const stopsShownFrom = 4
// A loop that runs this long has recovered: most stop at a call to the broker, which waits five seconds. One that ran
// longer before it stopped has to run twice as long, up to a bound: what is well again is soon shown as well.
const recoveredAfterMs = { least: 10_000, most: 20_000 }

export interface SuperviseOptions {
  /** While the loop keeps stopping, the process is not ready. Without it, that is only shown beside the checks. */
  readonly isNeeded?: boolean
}

/**
 * Restarts a loop whenever it stops. `/readyz` and `check_failing` report a loop that keeps stopping, until it has run
 * for ten to twenty seconds. A command without `Health` reports it nowhere.
 */
export const supervise = <E, R>(
  name: string,
  loop: Effect.Effect<never, E, R>,
  { isNeeded = false }: SuperviseOptions = {}
): Effect.Effect<never, never, R> =>
  Effect.gen(function* () {
    const health = Option.getOrUndefined(yield* Effect.serviceOption(Health))
    const metrics = Option.getOrUndefined(yield* Effect.serviceOption(Metrics))
    let waitMs = firstWaitMs
    let stops = 0
    let longestRunMs = 0
    let isStopping = false
    const show = (now: boolean) => {
      isStopping = now
      metrics?.gauge(checkFailing).set({ check: "loop", subject: name }, now ? 1 : 0)
    }
    show(false)
    const stopping = Effect.sync(() => (isStopping ? "stops again and again" : undefined))
    const isRunning = Effect.flatMap(stopping, (fault) => (fault === undefined ? Effect.void : Effect.fail(fault)))
    if (health !== undefined) yield* isNeeded ? health.readiness(name, isRunning) : health.remark(name, stopping)
    while (true) {
      const begunAtMs = yield* Clock.currentTimeMillis
      const recovered = Effect.delay(
        Effect.sync(() => show(false)),
        Math.min(Math.max(recoveredAfterMs.least, 2 * longestRunMs), recoveredAfterMs.most)
      )
      const cause = yield* Effect.flip(
        Effect.sandbox(isStopping ? Effect.raceFirst(loop, Effect.andThen(recovered, Effect.never)) : loop)
      )
      yield* Effect.logError("a loop stopped, it is begun again", cause)
      const ranMs = (yield* Clock.currentTimeMillis) - begunAtMs
      const wasWell = ranMs >= wellAfterMs
      stops = wasWell ? 1 : stops + 1
      longestRunMs = wasWell ? 0 : Math.max(longestRunMs, ranMs)
      if (stops >= stopsShownFrom) show(true)
      if (wasWell) waitMs = firstWaitMs
      yield* Effect.sleep(waitMs)
      waitMs = Math.min(2 * waitMs, waitMsMax)
    }
  }).pipe(Effect.scoped, Effect.annotateLogs({ loop: name }))
