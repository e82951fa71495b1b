/** Clocks that show another time: a later process' or a patient one's; or that stand still. */
import { Clock, Effect } from "effect"

const shifted = (clock: Clock.Clock, byMs: () => number): Clock.Clock => {
  const byNanos = () => BigInt(byMs()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + byMs(),
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (nowMs) => nowMs + byMs()),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + byNanos(),
    currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + byNanos()),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

/** `byMs` may change while it runs: then time has made a leap. */
export const later = (byMs: number | (() => number)) => {
  const shift = typeof byMs === "number" ? () => byMs : byMs
  return Effect.updateService(Clock.Clock, (clock) => shifted(clock, shift))
}

/** The time of day stands still, however long the test takes; sleepers wake all the same. */
export const standingAt = (atMs: number) =>
  Effect.updateService(Clock.Clock, (clock) => ({
    ...shifted(clock, () => 0),
    currentTimeMillisUnsafe: () => atMs,
    currentTimeMillis: Effect.succeed(atMs),
    currentTimeNanosUnsafe: () => BigInt(atMs) * 1_000_000n,
    currentTimeNanos: Effect.succeed(BigInt(atMs) * 1_000_000n)
  }))
