/**
 * When an endpoint is left alone. The breaker opens after 20 failures in a row that span at least 30 s, so
 * that neither a burst nor a slow trickle opens it. Open, nothing is sent and no delivery loses an attempt;
 * after the pause one delivery probes, and its end decides for all. Pauses double from 30 s to 5 min.
 */

export interface Breaker {
  readonly failuresInARow: number
  readonly failingSinceMs: number | null
  /** Set while open, and while the probe after it is awaited. */
  readonly openUntilMs: number | null
  /** How often it opened since the last success. */
  readonly trips: number
}

export type Phase = "closed" | "open" | "half-open"

export const closedBreaker: Breaker = { failuresInARow: 0, failingSinceMs: null, openUntilMs: null, trips: 0 }

export const failuresToOpen = 20
export const failingMsToOpen = 30_000
const pauseMsMin = 30_000
const pauseMsMax = 300_000

export const phase = (breaker: Breaker, nowMs: number): Phase => {
  if (breaker.openUntilMs === null) return "closed"
  return nowMs < breaker.openUntilMs ? "open" : "half-open"
}

export const onSuccess = (): Breaker => closedBreaker

/** The breaker after one more failure; it has opened when `openUntilMs` lies ahead of `nowMs`. */
export const onFailure = (breaker: Breaker, nowMs: number): Breaker => {
  const failuresInARow = breaker.failuresInARow + 1
  const failingSinceMs = breaker.failingSinceMs ?? nowMs
  const failed = { ...breaker, failuresInARow, failingSinceMs }
  switch (phase(breaker, nowMs)) {
    case "open":
      return failed
    case "half-open":
      return trip(failed, nowMs)
    case "closed":
      return failuresInARow >= failuresToOpen && nowMs - failingSinceMs >= failingMsToOpen
        ? trip(failed, nowMs)
        : failed
  }
}

const trip = (breaker: Breaker, nowMs: number): Breaker => ({
  ...breaker,
  trips: breaker.trips + 1,
  openUntilMs: nowMs + Math.min(pauseMsMin * 2 ** breaker.trips, pauseMsMax)
})
