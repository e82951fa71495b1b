/**
 * Everything one endpoint's deliveries share in this process: its breaker, its lines of departure and its
 * count of deliveries in work. `handle` takes a delivery from arrival to settlement.
 */
import { Clock, Effect } from "effect"
import { type BusError, handBack, type Received, type Settlement } from "#bus"
import type { Courier } from "./Courier.ts"
import type { CourierMetrics } from "./CourierMetrics.ts"
import type { DueDelivery } from "./delivery-codec.ts"
import { departures } from "./departures.ts"
import { type EndpointBreaker, endpointBreaker } from "./EndpointBreaker.ts"
import type { EndpointSettings } from "./endpoint-settings.ts"
import type { EndpointStates } from "./EndpointStates.ts"

export interface EndpointDesk {
  readonly settings: EndpointSettings
  readonly breaker: EndpointBreaker
  readonly inWork: () => number
  /** For a delivery that may go now; never fails, however the receiver behaves. */
  readonly handle: (received: Received<DueDelivery>) => Effect.Effect<Settlement>
}

export interface DeskServices {
  readonly courier: Courier["Service"]
  readonly states: EndpointStates["Service"]
  readonly metrics: CourierMetrics["Service"]
  /** Tells the broker to send nothing to this endpoint until then (per-endpoint consumers only). */
  readonly holdUntil: (untilMs: number) => Effect.Effect<void, BusError>
}

export const endpointDesk = (settings: EndpointSettings, services: DeskServices): EndpointDesk => {
  const { courier, states, metrics } = services
  const breaker = endpointBreaker(settings.hasBreaker)
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

  const send = Effect.fnUntraced(function* ({ value: due }: Received<DueDelivery>, clock: Clock.Clock) {
    const { delivery } = due
    const line = delivery.attempt === 1 && delivery.entity !== undefined ? lines.enter(delivery.entity) : undefined
    const onLeave = () => {
      line?.left()
      metrics.left(settings, delivery, clock.currentTimeMillisUnsafe())
    }
    const attempt = courier.attempt(settings, due, onLeave)
    if (line === undefined) return yield* attempt
    return yield* line.before.pipe(Effect.andThen(attempt), Effect.ensuring(Effect.sync(line.left)))
  })

  const work = Effect.fnUntraced(function* (received: Received<DueDelivery>): Effect.fn.Return<Settlement> {
    const clock = yield* Clock.Clock
    const { delivery } = received.value
    const earlyMs = delivery.attempt === 1 ? 0 : delivery.dueAt - clock.currentTimeMillisUnsafe()
    if (earlyMs > 0) yield* Effect.sleep(earlyMs)
    const sent = yield* send(received, clock)
    const success = sent.result._tag === "Answered" && sent.result.status >= 200 && sent.result.status < 300
    if (settings.hasBreaker && !(success && breaker.isPristine())) yield* reportEnd(success)
    return yield* courier.conclude(settings, received.value, sent)
  })

  const handle = Effect.fnUntraced(function* (received: Received<DueDelivery>): Effect.fn.Return<Settlement> {
    if (!breaker.isPristine()) {
      const admission = yield* breaker.admit
      if (admission._tag === "Wait") {
        metrics.postponed(settings, "circuit_open")
        return handBack(Math.max(0, admission.untilMs - (yield* Clock.currentTimeMillis)))
      }
    }
    inWork += 1
    return yield* work(received).pipe(
      Effect.onInterrupt(() => breaker.release),
      Effect.ensuring(Effect.sync(() => (inWork -= 1)))
    )
  })
  return { settings, breaker, handle, inWork: () => inWork }
}
