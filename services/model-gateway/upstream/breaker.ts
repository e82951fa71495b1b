/**
 * When a provider's model is left alone: after ten failures in a row that span at least ten seconds, so that
 * neither a burst nor a rare call decides. Open, it is not asked; after the pause one call finds out. Pauses
 * double from five seconds to one minute. Pure.
 */

export interface Breaker {
  readonly failuresInARow: number
  readonly failingSinceMs: number
  /** Null while closed. */
  readonly openUntilMs: number | null
  readonly trips: number
  /** A call is on its way to find out; given up after a while, should it never come back. */
  readonly probingUntilMs: number
}

const failuresToOpen = 10
const failingMsToOpen = 10_000
const pauseMsMin = 5_000
const pauseMsMax = 60_000
const probeMsMax = 150_000

export const closedBreaker: Breaker = {
  failuresInARow: 0,
  failingSinceMs: 0,
  openUntilMs: null,
  trips: 0,
  probingUntilMs: 0
}

/** Zero: it may be asked. Else how long nobody asks it. */
export const waitMs = ({ openUntilMs, probingUntilMs }: Breaker, nowMs: number): number => {
  if (openUntilMs === null) return 0
  if (nowMs < openUntilMs) return openUntilMs - nowMs
  return nowMs < probingUntilMs ? Math.min(1_000, probingUntilMs - nowMs) : 0
}

/** It is being asked: if it was open, nobody else asks until that is over. */
export const asked = (breaker: Breaker, nowMs: number): Breaker =>
  breaker.openUntilMs === null ? breaker : { ...breaker, probingUntilMs: nowMs + probeMsMax }

/** The call came to nothing that tells: the caller left. */
export const untold = (breaker: Breaker): Breaker => ({ ...breaker, probingUntilMs: 0 })

export const failed = (breaker: Breaker, nowMs: number): Breaker => {
  const failuresInARow = breaker.failuresInARow + 1
  const failingSinceMs = breaker.failuresInARow === 0 ? nowMs : breaker.failingSinceMs
  const next = { ...breaker, failuresInARow, failingSinceMs, probingUntilMs: 0 }
  // A call that was made before it opened says nothing new.
  if (breaker.openUntilMs !== null && nowMs < breaker.openUntilMs) return next
  const isProbe = breaker.openUntilMs !== null
  if (!isProbe && (failuresInARow < failuresToOpen || nowMs - failingSinceMs < failingMsToOpen)) return next
  const pauseMs = Math.min(pauseMsMin * 2 ** breaker.trips, pauseMsMax)
  return { ...next, trips: breaker.trips + 1, openUntilMs: nowMs + pauseMs }
}
