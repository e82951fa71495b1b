/**
 * The consumers of DELIVERIES, and the endpoint workers that they feed. Up to PartitionsAbove endpoints have a consumer
 * each: the broker keeps their backlog, concurrency and pauses, so no endpoint can affect another. More endpoints than
 * the broker serves well with consumers share one consumer per partition.
 */
import { Clock, Effect } from "effect"
import {
  type AckDecision,
  type BusError,
  consume,
  type ConsumerDeclaration,
  Consumers,
  type Consumption,
  nak,
  type Received
} from "#bus"
import { deliveryPartitions, subjects } from "#contracts"
import { DeliveryAttempts } from "./delivery-attempt.ts"
import { type DueDelivery, dueDeliveryCodec } from "#webhooks"
import { DeliveryMetrics } from "./delivery-metrics.ts"
import { BreakerLimits } from "./endpoint-breaker.ts"
import { EndpointStates } from "#webhooks"
import { endpointWorker, type EndpointWorker } from "./endpoint-worker.ts"
import type { EndpointSettings } from "./endpoints.ts"

/** One interface for both: a consumer per endpoint, or one per partition. */
export interface Consuming {
  readonly workers: ReadonlyArray<EndpointWorker>
  readonly consumptions: ReadonlyArray<Consumption>
  /** Brings an endpoint's pause and breaker in line with its shared state. */
  readonly follow: (endpointId: string) => Effect.Effect<void, BusError>
}

// The broker holds a pause by date; an operator's pause has none.
const farFutureMs = Date.UTC(9999, 0, 1)

// Not traced: the work started in here runs on, and each delivery begins a trace of its own.
export const consumePerEndpoint = Effect.fnUntraced(function* (endpoints: ReadonlyArray<EndpointSettings>) {
  const consumers = yield* Consumers
  const services = yield* workerServices

  const start = Effect.fnUntraced(function* (settings: EndpointSettings) {
    const consumer = endpointConsumer(settings)
    const holdUntil = (untilMs: number) => consumers.pause(consumer.stream, consumer.durable, untilMs)
    const worker = endpointWorker(settings, { ...services, holdUntil })
    const consumption = yield* consume({
      consumer,
      codec: dueDeliveryCodec,
      origin: "deliveries",
      handler: worker.handle
    })
    const follow = Effect.gen(function* () {
      const state = services.states.get(settings.id)
      yield* worker.breaker.adopt(state?.breakerOpenUntilMs ?? null)
      if (state?.paused != null) yield* holdUntil(farFutureMs)
      else if (state?.breakerOpenUntilMs != null) yield* holdUntil(state.breakerOpenUntilMs)
      else yield* consumers.resume(consumer.stream, consumer.durable)
    })
    yield* follow
    return { id: settings.id, worker, consumption, follow }
  })

  const started = yield* Effect.forEach(endpoints, start, { concurrency: 8 })
  const consuming: Consuming = {
    workers: started.map(({ worker }) => worker),
    follow: (endpointId) => started.find(({ id }) => id === endpointId)?.follow ?? Effect.void,
    consumptions: started.map(({ consumption }) => consumption)
  }
  return consuming
})

const fullDelayMs = 500
const pausedDelayMs = 60_000
// For an endpoint that this replica's configuration lacks: another replica may know it, or it is archived.
const strangerDelayMs = 60_000

/**
 * Endpoints of a partition share its consumer, so a delivery that cannot go now is never held: it is put back as a
 * schedule (endpoint full: half a second; breaker open: until it may be tried; paused: a minute) and acked.
 */
export const consumePerPartition = Effect.fnUntraced(function* (endpoints: ReadonlyArray<EndpointSettings>) {
  const services = yield* workerServices
  const { states, metrics, attempts } = services
  const holdUntil = () => Effect.void
  const workers = new Map(
    endpoints.map((settings) => [settings.id, endpointWorker(settings, { ...services, holdUntil })])
  )

  const handler = Effect.fnUntraced(function* (received: Received<DueDelivery>): Effect.fn.Return<AckDecision> {
    const worker = workers.get(received.value.delivery.endpointId)
    if (worker === undefined) return nak(strangerDelayMs)
    const nowMs = yield* Clock.currentTimeMillis
    const obstacle = obstacleTo(worker, states, nowMs)
    if (obstacle === undefined) return yield* worker.handle(received)
    metrics.postponed(worker.settings, obstacle.reason)
    return yield* attempts.postpone(received.value, received.subject, obstacle.untilMs)
  })

  const consumptions = yield* Effect.forEach(
    partitionConsumers(),
    (consumer) => consume({ consumer, codec: dueDeliveryCodec, origin: "deliveries", handler }),
    { concurrency: 8 }
  )
  const consuming: Consuming = {
    workers: [...workers.values()],
    follow: (id) => workers.get(id)?.breaker.adopt(states.get(id)?.breakerOpenUntilMs ?? null) ?? Effect.void,
    consumptions
  }
  return consuming
})

const workerServices = Effect.gen(function* () {
  const states = yield* EndpointStates
  const attempts = yield* DeliveryAttempts
  const metrics = yield* DeliveryMetrics
  const breakerLimits = yield* BreakerLimits
  return { states, attempts, metrics, breakerLimits }
})

interface Obstacle {
  readonly reason: "full" | "circuit_open" | "paused"
  readonly untilMs: number
}

const obstacleTo = (worker: EndpointWorker, states: EndpointStates["Service"], nowMs: number): Obstacle | undefined => {
  const { settings, breaker } = worker
  if (states.isPaused(settings.id)) return { reason: "paused", untilMs: nowMs + pausedDelayMs }
  const phase = breaker.phaseAt(nowMs)
  const openUntilMs = states.get(settings.id)?.breakerOpenUntilMs ?? nowMs + fullDelayMs
  if (phase === "open") return { reason: "circuit_open", untilMs: Math.max(openUntilMs, nowMs + fullDelayMs) }
  const probing = phase === "half-open" && breaker.isProbing()
  if (probing || worker.inWork() >= settings.concurrency) return { reason: "full", untilMs: nowMs + fullDelayMs }
  return undefined
}

/** Removes consumers of DELIVERIES that no configured endpoint needs. */
export const removeOtherConsumers = Effect.fnUntraced(function* (
  endpoints: ReadonlyArray<EndpointSettings>,
  inPartitions: boolean
) {
  const consumers = yield* Consumers
  const declared = inPartitions ? partitionConsumers() : endpoints.map(endpointConsumer)
  const wanted = new Set(declared.map((consumer) => consumer.durable))
  const present = yield* consumers.names("DELIVERIES")
  const others = present.filter((name) => !wanted.has(name))
  yield* Effect.forEach(others, (name) => consumers.remove("DELIVERIES", name), { concurrency: 8, discard: true })
})

/**
 * A worker that dies is noticed after this; its deliveries then go to another one. Heartbeats keep work in progress
 * alive, so this need not cover a receiver's timeout.
 */
const ackWaitMs = 5_000

/** Deliveries in work per partition and process: a few for each of its endpoints, and a bound on memory. */
const partitionUnackedMax = 512

const endpointConsumer = (endpoint: EndpointSettings): ConsumerDeclaration => ({
  stream: "DELIVERIES",
  durable: `endpoint-${endpoint.id}`,
  filterSubjects: [subjects.deliveriesDueOf(endpoint.id)],
  unackedMax: endpoint.concurrency,
  ackWaitMs
})

const partitionConsumers = (): ReadonlyArray<ConsumerDeclaration> =>
  Array.from({ length: deliveryPartitions }, (_, partition) => ({
    stream: "DELIVERIES",
    durable: `partition-${partition}`,
    filterSubjects: [subjects.deliveriesDueIn(partition)],
    unackedMax: partitionUnackedMax,
    ackWaitMs
  }))
