/**
 * A circuit breaker as a value. It opens after a number of failures in a row that span a length of time, so neither a
 * burst nor a slow trickle opens it. After the pause one attempt probes; a failed probe doubles the pause. Pure.
 */
export interface Breaker {
  readonly failuresInARow: number
  readonly failingSinceMs: number | null
  /** Set while the breaker is open, and while its probe is in flight. */
  readonly openUntilMs: number | null
  /** How often it has opened since the last success. */
  readonly trips: number
  /** A probe is in flight until then; afterwards it counts as lost. */
  readonly probingUntilMs: number
}

/** When a breaker opens, and for how long. */
export interface BreakerLimits {
  readonly failuresToOpen: number
  readonly failingMsToOpen: number
  readonly pauseMsMin: number
  readonly pauseMsMax: number
}

export type BreakerPhase = "closed" | "open" | "half-open"

/** The closed breaker. Every success restores it and clears all failures. */
export const closedBreaker: Breaker = {
  failuresInARow: 0,
  failingSinceMs: null,
  openUntilMs: null,
  trips: 0,
  probingUntilMs: 0
}

export const breakerPhase = ({ openUntilMs }: Breaker, nowMs: number): BreakerPhase => {
  if (openUntilMs === null) return "closed"
  return nowMs < openUntilMs ? "open" : "half-open"
}

/**
 * How long to wait before an attempt; zero means now. During a probe other attempts wait for at most a second at a
 * time.
 */
export const breakerWaitMs = ({ openUntilMs, probingUntilMs }: Breaker, nowMs: number): number => {
  if (openUntilMs === null) return 0
  if (nowMs < openUntilMs) return openUntilMs - nowMs
  return nowMs < probingUntilMs ? Math.min(1_000, probingUntilMs - nowMs) : 0
}

/** An attempt starts. On an open breaker it is the probe, and the only one until it ends or `probeMsMax` passes. */
export const afterAttempt = (breaker: Breaker, nowMs: number, probeMsMax: number): Breaker =>
  breaker.openUntilMs === null ? breaker : { ...breaker, probingUntilMs: nowMs + probeMsMax }

/** The attempt ended without a result, for example because its caller left: another attempt can probe. */
export const afterNothing = (breaker: Breaker): Breaker => ({ ...breaker, probingUntilMs: 0 })

/** The breaker after a failure; it is open if `openUntilMs` is after `nowMs`. */
export const afterFailure = (breaker: Breaker, nowMs: number, limits: BreakerLimits): Breaker => {
  const failuresInARow = breaker.failuresInARow + 1
  const failingSinceMs = breaker.failingSinceMs ?? nowMs
  const failed = { ...breaker, failuresInARow, failingSinceMs, probingUntilMs: 0 }
  switch (breakerPhase(breaker, nowMs)) {
    case "open":
      // An attempt that began before the breaker opened adds no information.
      return failed
    case "half-open":
      return opened(failed, nowMs, limits)
    case "closed":
      return failuresInARow >= limits.failuresToOpen && nowMs - failingSinceMs >= limits.failingMsToOpen
        ? opened(failed, nowMs, limits)
        : failed
  }
}

const opened = (breaker: Breaker, nowMs: number, { pauseMsMin, pauseMsMax }: BreakerLimits): Breaker => ({
  ...breaker,
  trips: breaker.trips + 1,
  openUntilMs: nowMs + Math.min(pauseMsMin * 2 ** breaker.trips, pauseMsMax)
})
