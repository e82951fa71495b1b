/**
 * Graceful shutdown of a process. Work that must not be cut off registers how it drains. At shutdown everything drains
 * at once, within 30 s in total. Work that misses the deadline is named, and the process ends anyway.
 */
import { Context, Effect, Layer, Ref, type Scope } from "effect"
import { Health } from "./Health.ts"
import { defineCounter, Metrics } from "./Metrics.ts"

export interface DrainReport {
  readonly finished: number
  readonly handedBack: number
}

// A deployment grants 45 s between the signal and the kill: this, plus time to flush and exit.
export const drainMsMax = 30_000

export const drained = defineCounter({
  name: "drain_work_total",
  help: "Work that a drain met, by what became of it: finished, or handed_back to another process.",
  labels: ["outcome"],
  values: { outcome: ["finished", "handed_back"] }
})
export const drainMetrics = [drained]

/** The name of the check of `/readyz` that fails while a process drains. */
export const drainCheck = "drain"
export const draining = "draining"

export class Drain extends Context.Service<
  Drain,
  {
    readonly register: (name: string, drain: Effect.Effect<DrainReport>) => Effect.Effect<void, never, Scope.Scope>
    /** Drains everything, once. True when all of it finished in time. */
    readonly run: Effect.Effect<boolean>
  }
>()("starling/runtime/Drain") {
  static readonly layer = Layer.effect(
    Drain,
    Effect.gen(function* () {
      const health = yield* Health
      const work = (yield* Metrics).counter(drained)
      const drains = new Map<string, Effect.Effect<DrainReport>>()
      const isDraining = yield* Ref.make(false)
      yield* health.readiness(
        drainCheck,
        Effect.flatMap(Ref.get(isDraining), (is) => (is ? Effect.fail(draining) : Effect.void))
      )

      const drainOne = ([name, drain]: readonly [string, Effect.Effect<DrainReport>]) =>
        drain.pipe(
          Effect.tap((report) =>
            Effect.sync(() => {
              work.inc({ outcome: "finished" }, report.finished)
              work.inc({ outcome: "handed_back" }, report.handedBack)
            })
          ),
          Effect.tap((report) => Effect.logInfo("drained").pipe(Effect.annotateLogs({ part: name, ...report }))),
          Effect.as(true),
          Effect.timeoutOrElse({ duration: drainMsMax, orElse: () => Effect.succeed(false) }),
          Effect.catchCause((cause) => Effect.as(Effect.logError("a drain failed", cause), false)),
          Effect.tap((ended) =>
            ended ? Effect.void : Effect.logError("not drained in time").pipe(Effect.annotateLogs({ part: name }))
          )
        )
      const run = Effect.gen(function* () {
        if (yield* Ref.getAndSet(isDraining, true)) return true
        const ended = yield* Effect.forEach([...drains], drainOne, { concurrency: "unbounded" })
        return ended.every((inTime) => inTime)
      })
      return Drain.of({
        run,
        register: (name, drain) =>
          Effect.acquireRelease(
            Effect.sync(() => void drains.set(name, drain)),
            () => Effect.sync(() => drains.delete(name))
          )
      })
    })
  )
}
