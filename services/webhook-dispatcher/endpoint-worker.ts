/**
 * An endpoint worker holds what one endpoint's deliveries share in this process: its breaker, the order of its entities
 * and its count of deliveries in work. `handle` takes a delivery from arrival to its ack.
 */
import { Clock, Effect, Exit } from "effect"
import { type AckDecision, type BusError, nak, type Received } from "#bus"
import type { Attempted, DeliveryAttempts } from "./delivery-attempt.ts"
import type { DueDelivery } from "#webhooks"
import type { DeliveryMetrics } from "./delivery-metrics.ts"
import { type BreakerLimits, endpointBreaker, type EndpointBreaker } from "./endpoint-breaker.ts"
import type { EndpointStates } from "#webhooks"
import type { EndpointSettings } from "./endpoints.ts"
import { entityOrder, type EntityOrder } from "./entity-order.ts"
import { isSuccess } from "./retry-policy.ts"

export interface EndpointWorker {
  readonly settings: EndpointSettings
  readonly breaker: EndpointBreaker
  readonly inWork: () => number
  /** Delivers what may go now; never fails, however the receiver behaves. */
  readonly handle: (received: Received<DueDelivery>) => Effect.Effect<AckDecision>
}

export interface WorkerServices {
  readonly attempts: DeliveryAttempts["Service"]
  readonly states: EndpointStates["Service"]
  readonly metrics: DeliveryMetrics["Service"]
  readonly breakerLimits: BreakerLimits
  /** Tells the broker to send nothing to this endpoint until then (per-endpoint consumers only). */
  readonly holdUntil: (untilMs: number) => Effect.Effect<void, BusError>
}

interface Worker {
  readonly settings: EndpointSettings
  readonly services: WorkerServices
  readonly breaker: EndpointBreaker
  readonly order: EntityOrder
  inWork: number
}

export const endpointWorker = (settings: EndpointSettings, services: WorkerServices): EndpointWorker => {
  const breaker = endpointBreaker(settings.hasBreaker, services.breakerLimits)
  const worker: Worker = { settings, services, breaker, order: entityOrder(), inWork: 0 }
  const handle = ({ value: due }: Received<DueDelivery>): Effect.Effect<AckDecision> =>
    Effect.flatMap(Clock.Clock, (clock) =>
      due.delivery.attempt === 1 && breaker.isPristine() ? send(worker, due, clock) : admit(worker, due, clock)
    )
  return { settings, breaker, handle, inWork: () => worker.inWork }
}

/** For a retry, or an endpoint that failed lately: the breaker decides, and the delivery waits for its time. */
const admit = Effect.fnUntraced(function* (worker: Worker, due: DueDelivery, clock: Clock.Clock) {
  const { settings, services, breaker } = worker
  const admission = yield* breaker.admit
  if (admission._tag === "Wait") {
    services.metrics.postponed(settings, "circuit_open")
    return nak(Math.max(0, admission.untilMs - clock.currentTimeMillisUnsafe()))
  }
  if (due.delivery.attempt > 1) yield* counted(worker, waitUntil(due.delivery.dueAt, clock))
  return yield* send(worker, due, clock)
})

// Every delivery takes this path, so it has as few steps as possible.
const send = (worker: Worker, due: DueDelivery, clock: Clock.Clock): Effect.Effect<AckDecision> =>
  Effect.suspend(() => {
    const { settings, breaker, order } = worker
    const { attempts, metrics } = worker.services
    const { delivery } = due
    const isFirst = delivery.attempt === 1 && delivery.entity !== undefined
    const turn = isFirst ? order.enter(delivery.entity) : undefined
    const onLeave = () => {
      turn?.left()
      metrics.left(settings, delivery, clock.currentTimeMillisUnsafe())
    }
    const sent = Effect.flatMap(attempts.attempt(settings, due, onLeave), (attempted) =>
      conclude(worker, due, attempted)
    )
    worker.inWork += 1
    return Effect.onExit(turn?.before === undefined ? sent : Effect.andThen(turn.before, sent), (exit) => {
      worker.inWork -= 1
      turn?.left()
      return Exit.hasInterrupts(exit) ? breaker.release : Effect.void
    })
  })

const conclude = (worker: Worker, due: DueDelivery, attempted: Attempted) => {
  const { settings, services, breaker } = worker
  const { result } = attempted
  const success = result._tag === "Answered" && isSuccess(result.status)
  const concluded = services.attempts.conclude(settings, due, attempted)
  if (!settings.hasBreaker || (success && breaker.isPristine())) return concluded
  return Effect.andThen(reportEnd(worker, success), concluded)
}

const reportEnd = Effect.fnUntraced(function* ({ settings, services, breaker }: Worker, success: boolean) {
  const { openedUntilMs, closed } = yield* breaker.report(success)
  if (openedUntilMs === null && !closed) return
  const log = closed ? "an endpoint answers again" : "an endpoint fails and is left alone for a while"
  yield* Effect.logWarning(log).pipe(Effect.annotateLogs({ endpoint: settings.name, untilMs: openedUntilMs }))
  const shared = services.states.breakerOpen(settings.id, settings.name, openedUntilMs)
  const held = openedUntilMs === null ? Effect.void : services.holdUntil(openedUntilMs)
  // In this process the breaker works all the same; other replicas learn of it with the next opening.
  yield* Effect.andThen(held, shared).pipe(
    Effect.catch((error) => Effect.logWarning("the breaker could not be shared", error))
  )
})

// Counts waiting retries too: those that are due together arrive together, and each must see the others.
const counted = (worker: Worker, waiting: Effect.Effect<void>) =>
  Effect.suspend(() => {
    worker.inWork += 1
    return Effect.ensuring(
      waiting,
      Effect.sync(() => (worker.inWork -= 1))
    )
  })

// The failure's time and the clock are both cut to whole milliseconds; one more, and a retry is never early.
const cutOffMs = 1

/** Waits until `dueAtMs` has passed. A timer may fire a little early, so the clock has the last word. */
const waitUntil = Effect.fnUntraced(function* (dueAtMs: number, clock: Clock.Clock) {
  const leftMs = () => dueAtMs + cutOffMs - clock.currentTimeMillisUnsafe()
  while (leftMs() > 0) yield* Effect.sleep(leftMs())
})
