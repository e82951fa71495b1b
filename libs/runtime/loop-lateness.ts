/** How late the timers of this process are: what a processor that is wanted by others, or a busy loop, does to it. */
import { Clock, Effect, Schedule } from "effect"

const everyMs = 100
// The worst of it is remembered for a few ticks: a stall that has just ended tells of the next one.
const fading = 0.7

/** Milliseconds, the worst of the last moments; measured for as long as the scope lives. */
export const loopLateness = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  let tickedAtMs = clock.currentTimeMillisUnsafe()
  let worstMs = 0
  const measure = Effect.sync(() => {
    const nowMs = clock.currentTimeMillisUnsafe()
    worstMs = Math.max(worstMs * fading, nowMs - tickedAtMs - everyMs, 0)
    tickedAtMs = nowMs
  })
  yield* Effect.forkScoped(Effect.repeat(measure, Schedule.spaced(everyMs)))
  return () => worstMs
})
