/**
 * Delivers with one consumer per partition, for more endpoints than the broker keeps consumers for well.
 * Neighbours share a consumer, so a delivery that cannot go now is never held: it is put back as a schedule
 * (endpoint full: half a second; breaker open: until it may be tried; paused: a minute) and acked.
 */
import { Clock, Effect } from "effect"
import { consume, nak, type Received, type AckDecision } from "#bus"
import { BreakerLimits } from "./breaker-policy.ts"
import { partitionConsumer } from "./consumers.ts"
import { Courier } from "./Courier.ts"
import { CourierMetrics } from "./CourierMetrics.ts"
import { dueDeliveryCodec, type DueDelivery } from "./delivery-codec.ts"
import { type EndpointSettings, partitions } from "./endpoint-settings.ts"
import { type EndpointDesk, endpointDesk } from "./EndpointDesk.ts"
import { EndpointStates } from "./EndpointStates.ts"
import type { Workers } from "./Workers.ts"

const fullDelayMs = 500
const pausedDelayMs = 60_000
// An endpoint that this replica's configuration does not know: another replica may, or it is archived.
const strangerDelayMs = 60_000

// Not traced: what is begun in here runs on, and each delivery is to begin a trace of its own.
export const partitionWorkers = Effect.fnUntraced(function* (endpoints: ReadonlyArray<EndpointSettings>) {
  const states = yield* EndpointStates
  const courier = yield* Courier
  const metrics = yield* CourierMetrics
  const breakerLimits = yield* BreakerLimits
  const holdUntil = () => Effect.void
  const desks = new Map(
    endpoints.map((settings) => [
      settings.id,
      endpointDesk(settings, { courier, states, metrics, breakerLimits, holdUntil })
    ])
  )

  const handle = Effect.fnUntraced(function* (received: Received<DueDelivery>): Effect.fn.Return<AckDecision> {
    const desk = desks.get(received.value.delivery.endpointId)
    if (desk === undefined) return nak(strangerDelayMs)
    const nowMs = yield* Clock.currentTimeMillis
    const obstacle = obstacleTo(desk, states, nowMs)
    if (obstacle === undefined) return yield* desk.handle(received)
    metrics.postponed(desk.settings, obstacle.reason)
    return yield* courier.postpone(received.value, received.subject, obstacle.untilMs)
  })

  const consumptions = yield* Effect.forEach(
    Array.from({ length: partitions }, (_, partition) => partition),
    (partition) =>
      consume({
        consumer: partitionConsumer(partition),
        codec: dueDeliveryCodec,
        origin: "deliveries",
        handler: handle
      }),
    { concurrency: 8 }
  )
  const workers: Workers = {
    desks: [...desks.values()],
    follow: (id) => desks.get(id)?.breaker.adopt(states.get(id)?.breakerOpenUntilMs ?? null) ?? Effect.void,
    consumptions
  }
  return workers
})

interface Obstacle {
  readonly reason: "full" | "circuit_open" | "paused"
  readonly untilMs: number
}

const obstacleTo = (desk: EndpointDesk, states: EndpointStates["Service"], nowMs: number): Obstacle | undefined => {
  const { settings, breaker } = desk
  if (states.isPaused(settings.id)) return { reason: "paused", untilMs: nowMs + pausedDelayMs }
  const phase = breaker.phaseAt(nowMs)
  const openUntilMs = states.get(settings.id)?.breakerOpenUntilMs ?? nowMs + fullDelayMs
  if (phase === "open") return { reason: "circuit_open", untilMs: Math.max(openUntilMs, nowMs + fullDelayMs) }
  const probing = phase === "half-open" && breaker.isProbing()
  if (probing || desk.inWork() >= settings.concurrency) return { reason: "full", untilMs: nowMs + fullDelayMs }
  return undefined
}
