/**
 * How long this process stood still itself, so that it takes nobody else for silent for it. Told at every tick of a
 * timer; whatever a tick comes late, by a busy processor or an event loop that was held up, is time in which nothing
 * could be heard. Two rules follow: silence is counted in time in which we could have heard something, and a
 * process that has just woken judges nobody, for it has not read yet what came meanwhile. Pure but for what it keeps.
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
const fading = 0.5
// Somebody who is gone is given up in the end, however slow we are ourselves.
const allowanceMsMax = 3_000

export const ownStall = (tickMs: number, startedAtMs: number): OwnStall => {
  let tickedAtMs = startedAtMs
  let stalledMs = 0
  let allowanceMs = 0
  let isPunctual = true
  return {
    tick: (nowMs) => {
      const lateMs = Math.max(0, nowMs - tickedAtMs - tickMs)
      tickedAtMs = nowMs
      stalledMs += lateMs
      isPunctual = lateMs <= punctualMs
      allowanceMs = isPunctual ? allowanceMs * fading : Math.min(allowanceMsMax, Math.max(allowanceMs, lateMs))
    },
    awakeMs: (nowMs) => nowMs - stalledMs,
    isSilent: (heardAtMs, silenceMsMax, nowMs) =>
      isPunctual && nowMs - stalledMs - heardAtMs > silenceMsMax + allowanceMs
  }
}
