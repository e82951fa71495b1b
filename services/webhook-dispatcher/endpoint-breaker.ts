/**
 * The breaker of one endpoint opens after 20 failures in a row that span at least 30 s, so that neither a burst nor a
 * slow trickle opens it. Open, nothing is sent and no delivery loses an attempt. After the pause one delivery probes,
 * the others wait, and its end decides for all. Pauses double from 30 s to 5 min. Replicas learn of an opening through
 * the endpoint's state.
 */
import { Clock, Context, Deferred, Effect } from "effect"

/** Whether a delivery may go. `Wait` until a moment (epoch ms) without an attempt. */
type Admission = { readonly _tag: "Go" } | { readonly _tag: "Wait"; readonly untilMs: number }

export interface EndpointBreaker {
  /** Closed, and with nothing to remember: a delivery may go, and a success need not be reported. */
  readonly isPristine: () => boolean
  readonly admit: Effect.Effect<Admission>
  /** What an attempt came to. Answers with the moment until which the breaker is open, if it has just opened. */
  readonly report: (
    success: boolean
  ) => Effect.Effect<{ readonly openedUntilMs: number | null; readonly closed: boolean }>
  /** The probe ended without a result (handed back on drain): another one may probe. */
  readonly release: Effect.Effect<void>
  /** Another replica opened it, or an operator closed it. */
  readonly adopt: (openUntilMs: number | null) => Effect.Effect<void>
  readonly phaseAt: (nowMs: number) => Phase
  /** Half-open, and a delivery is on its way to find out. */
  readonly isProbing: () => boolean
}

export const endpointBreaker = (isOn: boolean, limits?: BreakerLimits): EndpointBreaker => {
  let breaker: Breaker = closedBreaker
  let probe: Deferred.Deferred<void> | undefined

  const endProbe = Effect.sync(() => {
    if (probe !== undefined) Deferred.doneUnsafe(probe, Effect.void)
    probe = undefined
  })

  const admit: Effect.Effect<Admission> = Effect.gen(function* () {
    while (true) {
      const nowMs = yield* Clock.currentTimeMillis
      const current = phase(breaker, nowMs)
      if (current === "closed") return { _tag: "Go" }
      if (current === "open") return { _tag: "Wait", untilMs: breaker.openUntilMs ?? nowMs }
      if (probe === undefined) {
        probe = Deferred.makeUnsafe()
        return { _tag: "Go" }
      }
      yield* Deferred.await(probe)
    }
  })

  const report = Effect.fnUntraced(function* (success: boolean) {
    const nowMs = yield* Clock.currentTimeMillis
    const before = breaker
    breaker = success || !isOn ? onSuccess() : onFailure(breaker, nowMs, limits)
    yield* endProbe
    const opened = breaker.trips > before.trips
    return { openedUntilMs: opened ? breaker.openUntilMs : null, closed: success && before.openUntilMs !== null }
  })

  const adopt = Effect.fnUntraced(function* (openUntilMs: number | null) {
    if (!isOn) return
    if (openUntilMs === null && breaker.openUntilMs === null) return
    if (openUntilMs === null) breaker = closedBreaker
    else if (openUntilMs > (breaker.openUntilMs ?? 0)) breaker = { ...breaker, openUntilMs, trips: breaker.trips + 1 }
    yield* endProbe
  })

  return {
    isPristine: () => breaker === closedBreaker,
    admit,
    report,
    adopt,
    release: endProbe,
    phaseAt: (nowMs) => phase(breaker, nowMs),
    isProbing: () => probe !== undefined
  }
}

/** The state; the functions on it are pure. */
export interface Breaker {
  readonly failuresInARow: number
  readonly failingSinceMs: number | null
  /** Set while open, and while the probe after it is awaited. */
  readonly openUntilMs: number | null
  /** How often it opened since the last success. */
  readonly trips: number
}

type Phase = "closed" | "open" | "half-open"

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
