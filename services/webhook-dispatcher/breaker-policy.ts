/**
 * When an endpoint is left alone. The breaker opens after 20 failures in a row that span at least 30 s, so
 * that neither a burst nor a slow trickle opens it. Open, nothing is sent and no delivery loses an attempt;
 * after the pause one delivery probes, and its end decides for all. Pauses double from 30 s to 5 min.
 */
import { Context } from "effect"

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

/** What opens a breaker, and for how long. */
export interface BreakerLimits {
  readonly failuresToOpen: number
  readonly failingMsToOpen: number
  readonly pauseMsMin: number
  readonly pauseMsMax: number
}

const usualLimits: BreakerLimits = {
  failuresToOpen: 20,
  failingMsToOpen: 30_000,
  pauseMsMin: 30_000,
  pauseMsMax: 300_000
}

/** Always the usual ones; only a test has no half minute to wait. */
export const BreakerLimits = Context.Reference<BreakerLimits>("starling/webhook-dispatcher/BreakerLimits", {
  defaultValue: () => usualLimits
})

export const phase = (breaker: Breaker, nowMs: number): Phase => {
  if (breaker.openUntilMs === null) return "closed"
  return nowMs < breaker.openUntilMs ? "open" : "half-open"
}

export const onSuccess = (): Breaker => closedBreaker

/** The breaker after one more failure; it has opened when `openUntilMs` lies ahead of `nowMs`. */
export const onFailure = (breaker: Breaker, nowMs: number, limits = usualLimits): Breaker => {
  const failuresInARow = breaker.failuresInARow + 1
  const failingSinceMs = breaker.failingSinceMs ?? nowMs
  const failed = { ...breaker, failuresInARow, failingSinceMs }
  switch (phase(breaker, nowMs)) {
    case "open":
      return failed
    case "half-open":
      return trip(failed, nowMs, limits)
    case "closed":
      return failuresInARow >= limits.failuresToOpen && nowMs - failingSinceMs >= limits.failingMsToOpen
        ? trip(failed, nowMs, limits)
        : failed
  }
}

const trip = (breaker: Breaker, nowMs: number, { pauseMsMin, pauseMsMax }: BreakerLimits): Breaker => ({
  ...breaker,
  trips: breaker.trips + 1,
  openUntilMs: nowMs + Math.min(pauseMsMin * 2 ** breaker.trips, pauseMsMax)
})
