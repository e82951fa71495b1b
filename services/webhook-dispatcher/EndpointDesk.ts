/**
 * Everything one endpoint's deliveries share in this process: its breaker, its lines of departure and its
 * count of deliveries in work. `handle` takes a delivery from arrival to its ack.
 */
import { Clock, Effect, Exit } from "effect"
import { type BusError, nak, type Received, type AckDecision } from "#bus"
import type { BreakerLimits } from "./breaker-policy.ts"
import type { Attempted, Courier } from "./Courier.ts"
import type { CourierMetrics } from "./CourierMetrics.ts"
import type { DueDelivery } from "./delivery-codec.ts"
import { departures } from "./departures.ts"
import { type EndpointBreaker, endpointBreaker } from "./EndpointBreaker.ts"
import type { EndpointSettings } from "./endpoint-settings.ts"
import type { EndpointStates } from "./EndpointStates.ts"
import { isSuccess } from "./retry-policy.ts"

export interface EndpointDesk {
  readonly settings: EndpointSettings
  readonly breaker: EndpointBreaker
  readonly inWork: () => number
  /** For a delivery that may go now; never fails, however the receiver behaves. */
  readonly handle: (received: Received<DueDelivery>) => Effect.Effect<AckDecision>
}

export interface DeskServices {
  readonly courier: Courier["Service"]
  readonly states: EndpointStates["Service"]
  readonly metrics: CourierMetrics["Service"]
  readonly breakerLimits: BreakerLimits
  /** Tells the broker to send nothing to this endpoint until then (per-endpoint consumers only). */
  readonly holdUntil: (untilMs: number) => Effect.Effect<void, BusError>
}

export const endpointDesk = (settings: EndpointSettings, services: DeskServices): EndpointDesk => {
  const { courier, states, metrics } = services
  const breaker = endpointBreaker(settings.hasBreaker, services.breakerLimits)
  const lines = departures()
  let inWork = 0

  const reportEnd = Effect.fnUntraced(function* (success: boolean) {
    const { openedUntilMs, closed } = yield* breaker.report(success)
    if (openedUntilMs === null && !closed) return
    const log = closed ? "an endpoint answers again" : "an endpoint fails and is left alone for a while"
    yield* Effect.logWarning(log).pipe(Effect.annotateLogs({ endpoint: settings.name, untilMs: openedUntilMs }))
    const told = states.breakerOpen(settings.id, settings.name, openedUntilMs)
    const held = openedUntilMs === null ? Effect.void : services.holdUntil(openedUntilMs)
    // The breaker works in this process all the same; the others learn of it with the next opening.
    yield* Effect.andThen(held, told).pipe(
      Effect.catch((error) => Effect.logWarning("the breaker could not be shared", error))
    )
  })

  // Every delivery comes through here, so it is made of as few steps as it can be.
  const send = (due: DueDelivery, clock: Clock.Clock): Effect.Effect<AckDecision> =>
    Effect.suspend(() => {
      const { delivery } = due
      const isFirst = delivery.attempt === 1 && delivery.entity !== undefined
      const line = isFirst ? lines.enter(delivery.entity) : undefined
      const onLeave = () => {
        line?.left()
        metrics.left(settings, delivery, clock.currentTimeMillisUnsafe())
      }
      const sent = Effect.flatMap(courier.attempt(settings, due, onLeave), (attempted) => conclude(due, attempted))
      inWork += 1
      return Effect.onExit(line?.before === undefined ? sent : Effect.andThen(line.before, sent), (exit) => {
        inWork -= 1
        line?.left()
        return Exit.hasInterrupts(exit) ? breaker.release : Effect.void
      })
    })

  const conclude = (due: DueDelivery, attempted: Attempted) => {
    const { result } = attempted
    const success = result._tag === "Answered" && isSuccess(result.status)
    const concluded = courier.conclude(settings, due, attempted)
    if (!settings.hasBreaker || (success && breaker.isPristine())) return concluded
    return Effect.andThen(reportEnd(success), concluded)
  }

  const handleWithCare = Effect.fnUntraced(function* (due: DueDelivery, clock: Clock.Clock) {
    const admission = yield* breaker.admit
    if (admission._tag === "Wait") {
      metrics.postponed(settings, "circuit_open")
      return nak(Math.max(0, admission.untilMs - clock.currentTimeMillisUnsafe()))
    }
    if (due.delivery.attempt > 1) yield* counted(waitUntil(due.delivery.dueAt, clock))
    return yield* send(due, clock)
  })

  // Retries that are due together arrive together: each is in work from here on, and the others see it.
  const counted = (waiting: Effect.Effect<void>) =>
    Effect.suspend(() => {
      inWork += 1
      return Effect.ensuring(
        waiting,
        Effect.sync(() => (inWork -= 1))
      )
    })

  const handle = ({ value: due }: Received<DueDelivery>): Effect.Effect<AckDecision> =>
    Effect.flatMap(Clock.Clock, (clock) =>
      due.delivery.attempt === 1 && breaker.isPristine() ? send(due, clock) : handleWithCare(due, clock)
    )
  return { settings, breaker, handle, inWork: () => inWork }
}

// The moment of a failure was cut to whole milliseconds, and so is the clock: one more, and it is never early.
const cutOffMs = 1

/** Waits until `dueAtMs` has passed; a timer may fire a little before its time, so the clock has the last word. */
const waitUntil = Effect.fnUntraced(function* (dueAtMs: number, clock: Clock.Clock) {
  const leftMs = () => dueAtMs + cutOffMs - clock.currentTimeMillisUnsafe()
  while (leftMs() > 0) yield* Effect.sleep(leftMs())
})
