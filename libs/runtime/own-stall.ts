/**
 * How late the timers of this process come, by a busy processor or an event loop that was held up. `ownStall` judges a
 * peer's silence by it: a process that stood still takes nobody else for silent. `loopLateness` tells how bad it is just
 * now, for those who take on work.
 */
import { Clock, Effect, Schedule } from "effect"

/** What each tick of a timer comes late, in milliseconds. */
const lateness = (tickMs: number, startedAtMs: number) => {
  let tickedAtMs = startedAtMs
  return (nowMs: number) => {
    const lateMs = Math.max(0, nowMs - tickedAtMs - tickMs)
    tickedAtMs = nowMs
    return lateMs
  }
}

/**
 * Silence is counted in time in which we could have heard something, and a process that has just woken judges nobody,
 * for it has not read yet what came meanwhile. Each watcher has its own, ticked where it reads its mail. Pure but for
 * what it keeps.
 */
export interface OwnStall {
  /** At each tick. */
  readonly tick: (nowMs: number) => void
  /** Now, on a clock that stands while we do: what `heardAt` of `isSilent` is noted on. */
  readonly awakeMs: (nowMs: number) => number
  /** Whether one that was heard at `heardAtMs` of the waking clock is to be given up. */
  readonly isSilent: (heardAtMs: number, silenceMsMax: number, nowMs: number) => boolean
}

// A timer is late by some milliseconds on any machine; a tick that is later than this came out of a stall.
const punctualMs = 50
// What held us up may hold up others on the same machine a little later: half of it with each punctual tick.
const allowanceFading = 0.5
// A peer that is gone is given up in the end, however slow we are ourselves.
const allowanceMsMax = 3_000

export const ownStall = (tickMs: number, startedAtMs: number): OwnStall => {
  const lateAt = lateness(tickMs, startedAtMs)
  let stalledMs = 0
  let allowanceMs = 0
  let isPunctual = true
  return {
    tick: (nowMs) => {
      const lateMs = lateAt(nowMs)
      stalledMs += lateMs
      isPunctual = lateMs <= punctualMs
      allowanceMs = isPunctual ? allowanceMs * allowanceFading : Math.min(allowanceMsMax, Math.max(allowanceMs, lateMs))
    },
    awakeMs: (nowMs) => nowMs - stalledMs,
    isSilent: (heardAtMs, silenceMsMax, nowMs) =>
      isPunctual && nowMs - stalledMs - heardAtMs > silenceMsMax + allowanceMs
  }
}

const everyMs = 100
// The worst of it is remembered for a few ticks: a stall that has just ended tells of the next one.
const worstFading = 0.7

/** Milliseconds, the worst of the last moments; measured for as long as the scope lives. */
export const loopLateness = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const lateAt = lateness(everyMs, clock.currentTimeMillisUnsafe())
  let worstMs = 0
  const measure = Effect.sync(() => {
    worstMs = Math.max(worstMs * worstFading, lateAt(clock.currentTimeMillisUnsafe()))
  })
  yield* Effect.forkScoped(Effect.repeat(measure, Schedule.spaced(everyMs)))
  return () => worstMs
})
