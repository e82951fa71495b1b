/**
 * How late the timers of this process fire, because of a busy processor or a blocked event loop. `ownStall` uses it to
 * judge a peer's silence: a process that stalled itself does not take a peer for silent. `loopLateness` gives the
 * current lateness to roles that take on work.
 */
import { Clock, Effect, Schedule } from "effect"

/** How late each tick of a timer is, in milliseconds. */
const lateness = (tickMs: number, startedAtMs: number) => {
  let tickedAtMs = startedAtMs
  return (nowMs: number) => {
    const lateMs = Math.max(0, nowMs - tickedAtMs - tickMs)
    tickedAtMs = nowMs
    return lateMs
  }
}

/**
 * Silence counts only time in which this process could have received something. A process that has just resumed judges
 * no peer, because it has not yet read what arrived meanwhile. Each watcher has its own instance, ticked where it reads
 * its messages. Pure except for its state.
 */
export interface OwnStall {
  /** Called at each tick. */
  readonly tick: (nowMs: number) => void
  /** The current time on a clock that stops while this process stalls: `heardAt` of `isSilent` is on this clock. */
  readonly awakeMs: (nowMs: number) => number
  /** Whether a peer last heard at `heardAtMs` of the awake clock counts as gone. */
  readonly isSilent: (heardAtMs: number, silenceMsMax: number, nowMs: number) => boolean
}

// A timer is some milliseconds late on any machine; a tick later than this followed a stall.
const punctualMs = 50
// What stalled this process may stall others on the same machine a little later: the allowance halves with each
// punctual tick.
const allowanceFading = 0.5
// A peer that is gone is declared gone eventually, however slow this process is.
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
    isSilent: (lastSignalMs, silenceMsMax, nowMs) =>
      isPunctual && nowMs - stalledMs - lastSignalMs > silenceMsMax + allowanceMs
  }
}

const everyMs = 100
// The worst lateness is remembered for a few ticks: a stall that has just ended often precedes the next one.
const worstFading = 0.7

/** In milliseconds, the worst of the last moments; measured while the scope is open. */
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
