/**
 * Checks that do: every ten seconds a process tries, in the background, what it must be able to do, and `/readyz` reads
 * the last result. A check that fails makes the process unready, or is only shown: a fault that all replicas share and
 * that lies outside of them must not take every one of them out of service.
 */
import { Clock, Effect, type Scope } from "effect"
import { Health } from "./Health.ts"
import { Role } from "./host.ts"
import { defineGauge, Metrics } from "./Metrics.ts"

export const checkFailing = defineGauge({
  name: "check_failing",
  help: "1 while a check of the process fails, else 0, by check and by what it checks (a network, an engine, a file; often nothing); `/readyz` and the log have the reason.",
  labels: ["check", "subject"]
})

export const checkMetrics = [checkFailing]

export interface Check<R> {
  readonly name: string
  /** What it checks, if a role has several checks of the name. */
  readonly subject?: string
  /** While it fails, the process is not ready. Without it, the failure is only shown. */
  readonly isNeeded?: boolean
  /** Fails with the reason, or with undefined where it cannot be known now: nothing changes then. */
  readonly run: Effect.Effect<void, string | undefined, R>
  /** The pause after a run that was well, here from how long that run took. One that failed is repeated sooner. */
  readonly pauseMs?: (tookMs: number) => number
}

/** Tells that real work has just done what the check would try: its next run is spared. */
export type Worked = () => void

const pauseMsUsual = 10_000
// Twice as long as a call to the broker waits.
const withinMs = 10_000

/** Runs until the scope ends, at first at once. */
export const check = Effect.fnUntraced(function* <R>(
  options: Check<R>
): Effect.fn.Return<Worked, never, R | Health | Metrics | Scope.Scope> {
  const { name, subject = "", isNeeded = false, run, pauseMs = () => pauseMsUsual } = options
  const health = yield* Health
  const clock = yield* Clock.Clock
  const gauge = (yield* Metrics).gauge(checkFailing)
  const labels = { check: name, subject }
  // A process that has come this far is taken as well until the first run has ended, seconds later.
  let fault: string | undefined
  let workedAtMs = Number.NEGATIVE_INFINITY

  const note = Effect.fnUntraced(function* (found: string | undefined) {
    gauge.set(labels, found === undefined ? 0 : 1)
    const before = fault
    fault = found
    if (found === before) return
    const line = found === undefined ? Effect.logInfo("a check is well again") : Effect.logWarning("a check fails")
    yield* Effect.annotateLogs(line, found === undefined ? labels : { ...labels, reason: found })
  })
  const tried = run.pipe(
    Effect.timeoutOrElse({ duration: withinMs, orElse: () => Effect.fail(`no end within ${withinMs} ms`) }),
    Effect.catchDefect((defect) => Effect.fail(String(defect))),
    Effect.match({ onFailure: (reason) => reason ?? fault, onSuccess: () => undefined })
  )
  const turn = Effect.gen(function* () {
    const beganAtMs = clock.currentTimeMillisUnsafe()
    yield* note(beganAtMs - workedAtMs <= pauseMsUsual ? undefined : yield* tried)
    const nextMs = pauseMs(clock.currentTimeMillisUnsafe() - beganAtMs)
    yield* Effect.sleep(fault === undefined ? nextMs : Math.min(nextMs, pauseMsUsual))
  })
  const shown = `${name} ${subject === "" ? yield* Role : subject}`
  const state = Effect.sync(() => fault)
  yield* isNeeded
    ? health.readiness(
        shown,
        Effect.flatMap(state, (reason) => (reason === undefined ? Effect.void : Effect.fail(reason)))
      )
    : health.remark(shown, state)
  yield* Effect.addFinalizer(() => Effect.sync(() => gauge.end(labels)))
  yield* Effect.forkScoped(Effect.forever(turn))
  return () => void (workedAtMs = clock.currentTimeMillisUnsafe())
})
