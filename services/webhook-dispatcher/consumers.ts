/**
 * The consumers of DELIVERIES, and the endpoint workers that they feed. Up to PartitionsAbove endpoints have a consumer
 * each: the broker keeps their backlog, concurrency and pauses, so no endpoint can affect another. More endpoints than
 * the broker serves well with consumers share one consumer per partition. Workers outlive a change from one to the
 * other, and every change of their endpoint.
 */
import { Clock, Effect, Exit, Latch, Schedule, Scope } from "effect"
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
import { Configuration } from "#runtime"
import { type DueDelivery, dueDeliveryCodec, EndpointStates } from "#webhooks"
import { DeliveryAttempts } from "./delivery-attempt.ts"
import { DeliveryMetrics } from "./metrics.ts"
import { BreakerLimits } from "./endpoint-breaker.ts"
import { endpointWorker, type EndpointWorker } from "./endpoint-worker.ts"
import { Endpoints } from "./endpoints/Endpoints.ts"
import { type EndpointSettings, isEnabled } from "./endpoints/settings.ts"

export interface Consuming {
  readonly workers: () => Iterable<EndpointWorker>
  /** Brings an endpoint's pause and breaker in line with its shared state. */
  readonly follow: (endpointId: string) => Effect.Effect<void, BusError>
  /** Stops taking, waits for what runs, and hands back the rest. */
  readonly drain: (patienceMs: number) => Effect.Effect<{ readonly finished: number; readonly handedBack: number }>
}

// The broker holds a pause by date; an operator's pause has none.
const farFutureMs = Date.UTC(9999, 0, 1)
const againAfter = "500 millis"

/** Takes deliveries for all endpoints as they come and go, until the scope closes. */
export const consumeDeliveries = Effect.fnUntraced(function* () {
  const deps = yield* dependencies
  const running: Running = { consumptions: new Map(), inPartitions: false, isDraining: false }
  const workers = new Map<string, EndpointWorker>()
  const state: State = { deps, running, workers, unfollowed: new Set() }
  const changed = yield* Latch.make(false)
  yield* deps.endpoints.onChange((ids) =>
    Effect.andThen(
      Effect.forEach(ids, (id) => changeWorker(state, id), { discard: true }),
      changed.open
    )
  )
  for (const endpoint of deps.endpoints.all()) addWorker(state, endpoint)
  const converge = converged(state)
  yield* removeOthers(state)
  yield* converge
  yield* Effect.forkScoped(
    changed.await.pipe(
      Effect.andThen(changed.close),
      Effect.andThen(
        converge.pipe(
          Effect.tapError((error) => Effect.logWarning("consumers are not in line with the endpoints", error)),
          Effect.retry(Schedule.spaced(againAfter)),
          Effect.ignore
        )
      ),
      Effect.forever
    )
  )
  const consuming: Consuming = {
    workers: () => workers.values(),
    follow: (id) => follow(state, id),
    drain: (patienceMs) => drain(running, patienceMs)
  }
  return consuming
})

interface Dependencies extends Effect.Success<typeof dependencies> {}

const dependencies = Effect.gen(function* () {
  const endpoints = yield* Endpoints
  return {
    endpoints,
    consumers: yield* Consumers,
    partitionsAbove: (yield* Configuration).WebhookDelivery.PartitionsAbove,
    states: yield* EndpointStates,
    attempts: yield* DeliveryAttempts,
    metrics: yield* DeliveryMetrics,
    breakerLimits: yield* BreakerLimits,
    mayLeave: endpoints.mayLeave,
    scope: yield* Effect.scope
  }
})

/** A consumer that is taken from, in a scope of its own. */
interface OpenConsumption {
  readonly consumption: Consumption
  readonly scope: Scope.Closeable
  unackedMax: number
}

interface Running {
  readonly consumptions: Map<string, OpenConsumption>
  inPartitions: boolean
  isDraining: boolean
}

interface State {
  readonly deps: Dependencies
  readonly running: Running
  readonly workers: Map<string, EndpointWorker>
  /** Endpoints whose pause and breaker may not be the broker's yet. */
  readonly unfollowed: Set<string>
}

const addWorker = ({ deps, running, workers, unfollowed }: State, endpoint: EndpointSettings) => {
  const durable = durableOf(endpoint.id)
  const holdUntil = (untilMs: number) =>
    running.inPartitions ? Effect.void : deps.consumers.pause(stream, durable, untilMs)
  deps.metrics.begin(endpoint)
  unfollowed.add(endpoint.id)
  workers.set(endpoint.id, endpointWorker(endpoint, { ...deps, holdUntil }))
}

/** Ends when nothing is on its way to an endpoint that is gone or disabled. */
const changeWorker = Effect.fnUntraced(function* (state: State, id: string) {
  const { deps, workers } = state
  const endpoint = deps.endpoints.byId(id)
  const worker = workers.get(id)
  if (endpoint === undefined) {
    yield* worker?.stop ?? Effect.void
    workers.delete(id)
    // Its last counts are in: nothing is sent to it, and its deliveries are put away.
    if (deps.endpoints.isGone(id)) yield* deps.metrics.end(id)
    return
  }
  if (worker === undefined) addWorker(state, endpoint)
  else worker.change(endpoint)
  state.unfollowed.add(id)
  if (!isEnabled(endpoint)) yield* workers.get(id)?.stop ?? Effect.void
})

/** Opens and closes consumers until they are those that the endpoints need. */
const converged = Effect.fnUntraced(function* (state: State): Effect.fn.Return<void, BusError, Services> {
  const { deps, running } = state
  if (running.isDraining) return
  const all = deps.endpoints.all()
  const inPartitions = all.length > deps.partitionsAbove
  running.inPartitions = inPartitions
  const declared = all.length === 0 ? [] : inPartitions ? partitionConsumers() : all.map(endpointConsumer)
  const wanted = new Map(declared.map((consumer) => [consumer.durable, consumer]))
  const others = [...running.consumptions.keys()].filter((durable) => !wanted.has(durable))
  yield* Effect.forEach(others, (durable) => close(state, durable), { concurrency: 8, discard: true })
  yield* Effect.forEach(wanted.values(), (consumer) => open(state, consumer), { concurrency: 8, discard: true })
  yield* Effect.forEach(
    state.unfollowed,
    (id) => Effect.map(follow(state, id), () => void state.unfollowed.delete(id)),
    { concurrency: 8, discard: true }
  )
})

type Services = Effect.Services<ReturnType<typeof consume<DueDelivery, never>>>

const open = Effect.fnUntraced(function* (state: State, consumer: ConsumerDeclaration) {
  const { deps, running } = state
  const known = running.consumptions.get(consumer.durable)
  if (known !== undefined) {
    if (known.unackedMax === consumer.unackedMax) return
    yield* known.consumption.resize(consumer.unackedMax)
    known.unackedMax = consumer.unackedMax
    return
  }
  const scope = yield* Scope.fork(deps.scope)
  const handler = (received: Received<DueDelivery>) => handle(state, received)
  const consumption = yield* consume({ consumer, codec: dueDeliveryCodec, origin: "deliveries", handler }).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  if (!running.inPartitions) state.unfollowed.add(consumer.durable.slice(durableOf("").length))
  running.consumptions.set(consumer.durable, { consumption, scope, unackedMax: consumer.unackedMax })
})

/** What runs there is handed back; another consumer has it at once. */
const close = Effect.fnUntraced(function* ({ deps, running }: State, durable: string) {
  const known = running.consumptions.get(durable)
  if (known === undefined) return
  yield* Scope.close(known.scope, Exit.void)
  yield* deps.consumers.remove(stream, durable)
  running.consumptions.delete(durable)
})

/** Removes consumers of DELIVERIES that no endpoint needs. */
const removeOthers = Effect.fnUntraced(function* ({ deps }: State) {
  const all = deps.endpoints.all()
  const declared = all.length > deps.partitionsAbove ? partitionConsumers() : all.map(endpointConsumer)
  const wanted = new Set(declared.map((consumer) => consumer.durable))
  const present = yield* deps.consumers.names(stream)
  const others = present.filter((name) => !wanted.has(name))
  yield* Effect.forEach(others, (name) => deps.consumers.remove(stream, name), { concurrency: 8, discard: true })
})

const follow = Effect.fnUntraced(function* ({ deps, running, workers }: State, id: string) {
  const worker = workers.get(id)
  if (worker === undefined) return
  const { states, consumers } = deps
  const state = states.get(id)
  yield* worker.breaker.adopt(state?.breakerOpenUntilMs ?? null)
  const durable = durableOf(id)
  if (running.inPartitions || !running.consumptions.has(durable)) return
  if (state?.paused != null || !isEnabled(worker.settings())) yield* consumers.pause(stream, durable, farFutureMs)
  else if (state?.breakerOpenUntilMs != null) yield* consumers.pause(stream, durable, state.breakerOpenUntilMs)
  else yield* consumers.resume(stream, durable)
})

const drain = Effect.fnUntraced(function* (running: Running, patienceMs: number) {
  running.isDraining = true
  const open = [...running.consumptions.values()]
  const reports = yield* Effect.forEach(open, ({ consumption }) => consumption.drain(patienceMs), {
    concurrency: "unbounded"
  })
  return {
    finished: reports.reduce((sum, report) => sum + report.finished, 0),
    handedBack: reports.reduce((sum, report) => sum + report.handedBack, 0)
  }
})

// For an endpoint that nobody knows any more: it is absent from the configuration, or about to be put away.
const strangerDelayMs = 60_000

const handle = (state: State, received: Received<DueDelivery>): Effect.Effect<AckDecision> => {
  const worker = state.workers.get(received.value.delivery.endpointId)
  if (worker === undefined) return handleStranger(state, received)
  return state.running.inPartitions ? handleInPartition(state.deps, worker, received) : worker.handle(received)
}

/** The fan-out of another process may know an endpoint a moment before this one does. */
const handleStranger = Effect.fnUntraced(function* (state: State, received: Received<DueDelivery>) {
  yield* Effect.ignore(state.deps.endpoints.catchUp)
  const worker = state.workers.get(received.value.delivery.endpointId)
  return worker === undefined ? nak(strangerDelayMs) : nak()
})

/**
 * Endpoints of a partition share its consumer, so a delivery that cannot go now is never held: it is put back as a
 * schedule (endpoint full: half a second; breaker open: until it may be tried; paused: a minute) and acked.
 */
const handleInPartition = Effect.fnUntraced(function* (
  { states, metrics, attempts }: Dependencies,
  worker: EndpointWorker,
  received: Received<DueDelivery>
): Effect.fn.Return<AckDecision> {
  const nowMs = yield* Clock.currentTimeMillis
  const obstacle = obstacleTo(worker, states, nowMs)
  if (obstacle === undefined) return yield* worker.handle(received)
  metrics.postponed(worker.settings(), obstacle.reason)
  return yield* attempts.postpone(received.value, received.subject, obstacle.untilMs)
})

const fullDelayMs = 500
const pausedDelayMs = 60_000

interface Obstacle {
  readonly reason: "full" | "circuit_open" | "paused"
  readonly untilMs: number
}

const obstacleTo = (worker: EndpointWorker, states: EndpointStates["Service"], nowMs: number): Obstacle | undefined => {
  const { breaker } = worker
  const settings = worker.settings()
  if (states.isPaused(settings.id) || !isEnabled(settings)) return { reason: "paused", untilMs: nowMs + pausedDelayMs }
  const phase = breaker.phaseAt(nowMs)
  const openUntilMs = states.get(settings.id)?.breakerOpenUntilMs ?? nowMs + fullDelayMs
  if (phase === "open") return { reason: "circuit_open", untilMs: Math.max(openUntilMs, nowMs + fullDelayMs) }
  const probing = phase === "half-open" && breaker.isProbing()
  if (probing || worker.inWork() >= settings.concurrency) return { reason: "full", untilMs: nowMs + fullDelayMs }
  return undefined
}

const stream = "DELIVERIES"

/**
 * A worker that dies is noticed after this; its deliveries then go to another one. Heartbeats keep work in progress
 * alive, so this need not cover a receiver's timeout.
 */
const ackWaitMs = 5_000

/** Deliveries in work per partition and process: a few for each of its endpoints, and a bound on memory. */
const partitionUnackedMax = 512

const durableOf = (endpointId: string) => `endpoint-${endpointId}`

const endpointConsumer = (endpoint: EndpointSettings): ConsumerDeclaration => ({
  stream,
  durable: durableOf(endpoint.id),
  filterSubjects: [subjects.deliveriesDueOf(endpoint.id)],
  unackedMax: endpoint.concurrency,
  ackWaitMs
})

const partitionConsumers = (): ReadonlyArray<ConsumerDeclaration> =>
  Array.from({ length: deliveryPartitions }, (_, partition) => ({
    stream,
    durable: `partition-${partition}`,
    filterSubjects: [subjects.deliveriesDueIn(partition)],
    unackedMax: partitionUnackedMax,
    ackWaitMs
  }))
