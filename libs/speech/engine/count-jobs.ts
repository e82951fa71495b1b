/** Keeps an engine's metrics while its jobs come and go. */
import { Effect, Exit } from "effect"
import { Metrics } from "#runtime"
import { engineHz } from "./Engine.ts"
import { jobsEnded, jobsRunning, realTimeFactor, synthesisSeconds, threadsReplaced } from "./metrics.ts"
import type { Ended } from "./worker/protocol.ts"

export const countJobs = Effect.fnUntraced(function* (engine: string) {
  const metrics = yield* Metrics
  const running = metrics.gauge(jobsRunning)
  const seconds = metrics.histogram(synthesisSeconds)
  const factor = metrics.histogram(realTimeFactor)
  const ended = metrics.counter(jobsEnded)
  const replaced = metrics.counter(threadsReplaced)
  let count = 0
  const change = (by: number) => {
    count += by
    running.set({ engine }, count)
  }
  change(0)
  return {
    begun: <A, E, R>(begin: Effect.Effect<A, E, R>) => Effect.tap(begin, () => Effect.sync(() => change(1))),
    left: Effect.sync(() => change(-1)),
    replaced: () => replaced.inc({ engine }),
    refused: () => ended.inc({ engine, outcome: "busy" }),
    outcome: (exit: Exit.Exit<Ended, unknown>) => {
      if (Exit.isFailure(exit)) {
        return ended.inc({ engine, outcome: Exit.hasInterrupts(exit) ? "cancelled" : "failed" })
      }
      const { outcome, busyMs, samples } = exit.value
      ended.inc({ engine, outcome: outcome.kind })
      seconds.observe({ engine }, busyMs / 1000)
      if (outcome.kind === "spoken" && samples > 0) factor.observe({ engine }, busyMs / 1000 / (samples / engineHz))
    }
  }
})
