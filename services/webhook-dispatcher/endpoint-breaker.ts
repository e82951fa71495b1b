/**
 * The breaker of one endpoint opens after 20 failures in a row that span at least 30 s, so that neither a burst nor a
 * slow trickle opens it. While it is open, nothing is sent and no delivery loses an attempt. After the pause one
 * delivery probes and the others wait; the result of the probe decides for all. Pauses double from 30 s to 5 min.
 * Replicas learn of an opening through the endpoint's state.
 */
import { Clock, Context, Deferred, Effect } from "effect"
import {
  afterFailure,
  type Breaker,
  type BreakerLimits as Limits,
  type BreakerPhase,
  breakerPhase,
  closedBreaker
} from "#runtime"

/** Whether a delivery may go. `Wait`: not before a moment (epoch ms), and without an attempt. */
type Admission = { readonly _tag: "Go" } | { readonly _tag: "Wait"; readonly untilMs: number }

export interface EndpointBreaker {
  /** Closed, and with nothing to remember: a delivery may go, and a success need not be reported. */
  readonly isPristine: () => boolean
  readonly admit: Effect.Effect<Admission>
  /** Takes the result of an attempt. Answers with the moment until which the breaker is open, if it has just opened. */
  readonly report: (
    success: boolean
  ) => Effect.Effect<{ readonly openedUntilMs: number | null; readonly closed: boolean }>
  /** The probe ended without a result (handed back on drain): another one may probe. */
  readonly release: Effect.Effect<void>
  /** Takes over what another replica (opened) or an operator (closed) has decided. */
  readonly adopt: (openUntilMs: number | null) => Effect.Effect<void>
  readonly phaseAt: (nowMs: number) => BreakerPhase
  /** Half-open, with the probe on its way. */
  readonly isProbing: () => boolean
}

export const endpointBreaker = (isOn: () => boolean, limits = endpointBreakerLimits): EndpointBreaker => {
  let breaker: Breaker = closedBreaker
  let probe: Deferred.Deferred<void> | undefined

  const endProbe = Effect.sync(() => {
    if (probe !== undefined) Deferred.doneUnsafe(probe, Effect.void)
    probe = undefined
  })

  const admit: Effect.Effect<Admission> = Effect.gen(function* () {
    while (true) {
      const nowMs = yield* Clock.currentTimeMillis
      const current = breakerPhase(breaker, nowMs)
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
    breaker = success || !isOn() ? closedBreaker : afterFailure(breaker, nowMs, limits)
    yield* endProbe
    const opened = breaker.trips > before.trips
    return { openedUntilMs: opened ? breaker.openUntilMs : null, closed: success && before.openUntilMs !== null }
  })

  const adopt = Effect.fnUntraced(function* (openUntilMs: number | null) {
    if (!isOn()) return
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
    phaseAt: (nowMs) => breakerPhase(breaker, nowMs),
    isProbing: () => probe !== undefined
  }
}

export const endpointBreakerLimits: Limits = {
  failuresToOpen: 20,
  failingMsToOpen: 30_000,
  pauseMsMin: 30_000,
  pauseMsMax: 300_000
}

export type BreakerLimits = Limits
/** The usual limits; only tests replace them, to avoid waiting half a minute. */
export const BreakerLimits = Context.Reference<Limits>("starling/webhook-dispatcher/BreakerLimits", {
  defaultValue: () => endpointBreakerLimits
})
