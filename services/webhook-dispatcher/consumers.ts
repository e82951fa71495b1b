/**
 * The open consumers of DELIVERIES, and the endpoint workers that they feed. Workers outlive every change of their
 * endpoint and of its consumers.
 */
import { Clock, Effect, Exit, Latch, Schedule, Scope } from "effect"
import {
  type AckDecision,
  type BusError,
  consume,
  type ConsumerDeclaration,
  Consumers,
  type Consumption,
  drainAll,
  nak,
  type Received
} from "#bus"
import { deliveryPartitionOf } from "#webhooks/contract"
import { deliveryStream, orderedPartition, subjects } from "#base"
import { Configuration } from "#configuration"
import { type DueDelivery, dueDeliveryCodec, EndpointStates } from "#webhooks"
import type { DueInLane } from "./backlogs.ts"
import {
  declaredConsumers,
  durableOf,
  endpointOf,
  isOrdered,
  keyOf,
  orderedDurableOf,
  partitionDurableOf
} from "./consumer-declarations.ts"
import { DeliveryAttempts } from "./delivery-attempt.ts"
import { DeliveryMetrics } from "./metrics.ts"
import { BreakerLimits, endpointWorker, type EndpointWorker } from "./endpoint-worker.ts"
import { Endpoints } from "./endpoints/Endpoints.ts"
import { DeliveryLanes } from "./lanes.ts"
import { removeLeftovers } from "./leftovers.ts"
import { type EndpointSettings, isEnabled, isMadeAgain, isOf } from "./endpoints/settings.ts"
import { DeliveryOrder } from "./order/DeliveryOrder.ts"
import { orderedDeliveries } from "./order/ordered-delivery.ts"

export interface Consuming {
  readonly workers: () => Iterable<EndpointWorker>
  /** Syncs the broker's hold on an endpoint with its shared pause and breaker. */
  readonly follow: (endpointId: string) => Effect.Effect<void>
  /** Stops taking, waits for running work, and hands back the rest. */
  readonly drain: (patienceMs: number) => Effect.Effect<{ readonly finished: number; readonly handedBack: number }>
}

// The broker holds a pause until a date; an operator's pause has none.
const farFutureMs = Date.UTC(9999, 0, 1)
const againAfter = "500 millis"
const lookEvery = "10 seconds"
const leftoversEvery = "5 seconds"
// Another dispatcher can remove a consumer that this one has just opened, before it learns that an endpoint was
// recreated.
const removedMeanwhile = {
  while: ({ _tag }: BusError) => _tag === "BusNotFound",
  schedule: Schedule.spaced(againAfter),
  times: 20
}

/** Takes deliveries for all endpoints as they come and go, until the scope closes. */
export const consumeDeliveries = Effect.fnUntraced(function* () {
  const deps = yield* dependencies
  const running: Running = { consumptions: new Map(), inPartitions: false, isDraining: false }
  const workers = new Map<string, EndpointWorker>()
  const changed = yield* Latch.make(false)
  const state: State = {
    deps,
    running,
    workers,
    unfollowed: new Set(),
    strays: new Set(),
    unordered: new Set(),
    again: Effect.asVoid(changed.open)
  }
  yield* deps.endpoints.onChange((ids) =>
    Effect.andThen(
      Effect.forEach(ids, (id) => changeWorker(state, id), { discard: true }),
      changed.open
    )
  )
  yield* deps.lanes.onChange(Effect.asVoid(changed.open))
  yield* deps.order.onChange(Effect.asVoid(changed.open))
  for (const endpoint of deps.endpoints.all()) addWorker(state, endpoint)
  const converge = converged(state)
  yield* removeOthers(state)
  yield* Effect.retry(converge, removedMeanwhile)
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
  const look = Effect.andThen(
    markHeldWrongly(state),
    Effect.suspend(() => (state.unfollowed.size > 0 ? changed.open : Effect.void))
  )
  yield* Effect.forkScoped(Effect.schedule(Effect.ignore(look), Schedule.spaced(lookEvery)))
  const leftovers = yield* removeLeftovers({
    durableOf: (due) => takerOf(state, due),
    uncovered: (due) => {
      state.strays.add(keyOf({ stream: deliveryStream(due.lane), durable: takerOf(state, due) }))
      return Effect.asVoid(changed.open)
    }
  })
  yield* Effect.forkScoped(Effect.schedule(Effect.ignore(leftovers), Schedule.spaced(leftoversEvery)))
  const consuming: Consuming = {
    workers: () => workers.values(),
    follow: (id) =>
      Effect.andThen(
        Effect.sync(() => void state.unfollowed.add(id)),
        changed.open
      ),
    drain: (patienceMs) => drain(state, patienceMs)
  }
  return consuming
})

interface Dependencies extends Effect.Success<typeof dependencies> {}

const dependencies = Effect.gen(function* () {
  const endpoints = yield* Endpoints
  return {
    endpoints,
    lanes: yield* DeliveryLanes,
    consumers: yield* Consumers,
    partitionsAbove: (yield* Configuration).WebhookDelivery.PartitionsAbove,
    states: yield* EndpointStates,
    attempts: yield* DeliveryAttempts,
    order: yield* DeliveryOrder,
    handleOrdered: yield* orderedDeliveries,
    metrics: yield* DeliveryMetrics,
    breakerLimits: yield* BreakerLimits,
    mayLeave: endpoints.mayLeave,
    dispatchers: endpoints.dispatchers,
    scope: yield* Effect.scope
  }
})

/** An active consumer, in a scope of its own. */
interface OpenConsumption {
  readonly consumption: Consumption
  readonly scope: Scope.Closeable
  readonly stream: string
  readonly durable: string
  readonly filterSubject: string
  unackedMax: number
}

interface Running {
  /** By stream and name. */
  readonly consumptions: Map<string, OpenConsumption>
  inPartitions: boolean
  isDraining: boolean
}

interface State {
  readonly deps: Dependencies
  readonly running: Running
  readonly workers: Map<string, EndpointWorker>
  /** Endpoints whose pause and breaker may not have reached the broker yet. */
  readonly unfollowed: Set<string>
  /** Consumers by stream and name, in lanes other than their endpoints' own, where deliveries were left. */
  readonly strays: Set<string>
  /** Endpoints whose order has ended: no process takes them alone. */
  readonly unordered: Set<string>
  /** Has the consumers brought in line once more. */
  readonly again: Effect.Effect<void>
}

/** The open consumers of one endpoint: two or more while it moves between lanes. */
const consumersOf = ({ consumptions }: Running, endpointId: string) =>
  [...consumptions.values()].filter(({ durable }) => endpointOf(durable) === endpointId)

const addWorker = ({ deps, running, workers, unfollowed }: State, endpoint: EndpointSettings) => {
  const pauseUntil = (untilMs: number) =>
    Effect.forEach(
      consumersOf(running, endpoint.id),
      ({ stream, durable }) => deps.consumers.pause(stream, durable, untilMs),
      { discard: true }
    )
  deps.metrics.begin(endpoint)
  unfollowed.add(endpoint.id)
  workers.set(endpoint.id, endpointWorker(endpoint, { ...deps, isTaken: deps.order.mayLeave, pauseUntil }))
}

/** Ends when nothing is in flight to an endpoint that is gone, recreated or disabled. */
const changeWorker = Effect.fnUntraced(function* (state: State, id: string) {
  const { deps, workers } = state
  const endpoint = deps.endpoints.byId(id)
  const worker = workers.get(id)
  if (worker?.settings().orderKey !== undefined && endpoint?.orderKey === undefined) state.unordered.add(id)
  const isFormer = endpoint === undefined || (worker !== undefined && isMadeAgain(worker.settings(), endpoint))
  if (isFormer) {
    yield* worker?.stop ?? Effect.void
    workers.delete(id)
  }
  if (endpoint === undefined) {
    // Its final counts are recorded: nothing is sent to it, and its deliveries are archived.
    if (deps.endpoints.isRemoved(id)) yield* deps.metrics.end(id)
    return
  }
  if (worker === undefined || isFormer) addWorker(state, endpoint)
  else worker.change(endpoint)
  state.unfollowed.add(id)
  if (!isEnabled(endpoint)) yield* workers.get(id)?.stop ?? Effect.void
})

/** Opens and closes consumers until they match what the endpoints need. */
const converged = Effect.fnUntraced(function* (state: State): Effect.fn.Return<void, BusError, Services> {
  const { deps, running } = state
  if (running.isDraining) return
  const all = deps.endpoints.all()
  const inPartitions = all.length > deps.partitionsAbove
  running.inPartitions = inPartitions
  for (const { orderKey, partition } of all) if (orderKey !== undefined) yield* deps.order.contend(partition)
  const isTaken = (endpoint: EndpointSettings) => deps.order.takes(endpoint.id)
  const wanted = new Map(declaredConsumers(deps, isTaken, state.strays).map((consumer) => [keyOf(consumer), consumer]))
  const isOther = ({ filterSubject }: OpenConsumption, key: string) =>
    wanted.get(key)?.filterSubjects[0] !== filterSubject
  const others = [...running.consumptions].flatMap(([key, open]) => (isOther(open, key) ? [key] : []))
  yield* Effect.forEach(others, (key) => close(state, key), { concurrency: 8, discard: true })
  yield* removeUnordered(state)
  const ordered = Map.groupBy(
    [...wanted.values()].filter(({ durable }) => isOrdered(durable)),
    ({ durable }) => durable
  )
  const shared = [...wanted.values()].filter(({ durable }) => !isOrdered(durable))
  yield* Effect.forEach(ordered.values(), (ofLanes) => openOrdered(state, ofLanes), { concurrency: 8, discard: true })
  yield* Effect.forEach(shared, (consumer) => open(state, consumer), { concurrency: 8, discard: true })
  yield* Effect.forEach([...state.unfollowed], (id) => followMarked(state, id), { concurrency: 8, discard: true })
})

/** All processes take such endpoints again, and whoever took them alone may be dead. */
const removeUnordered = Effect.fnUntraced(function* ({ deps: { lanes, consumers }, unordered }: State) {
  for (const id of unordered) {
    for (const lane of lanes.all) yield* consumers.remove(deliveryStream(lane), orderedDurableOf(id))
    unordered.delete(id)
  }
})

/**
 * Opens an ordered endpoint's consumers. The former taker's are replaced, so that all that it left comes at once.
 * Another process can still hold the endpoint's subjects while it learns of a change: the others do not wait for that.
 */
const openOrdered = (state: State, consumers: ReadonlyArray<ConsumerDeclaration>) =>
  Effect.gen(function* () {
    const { deps, running } = state
    const { order, lanes, endpoints } = deps
    const id = endpointOf(consumers[0]?.durable ?? "")
    if (endpoints.byId(id)?.orderKey !== undefined && order.opened(id) === undefined) {
      // Of an earlier time: the lease was lost, and taken again.
      for (const [key, { durable }] of running.consumptions)
        if (durable === orderedDurableOf(id)) yield* close(state, key)
      for (const lane of lanes.all) yield* deps.consumers.remove(deliveryStream(lane), orderedDurableOf(id))
      yield* order.open(id)
    }
    yield* Effect.forEach(consumers, (consumer) => open(state, consumer), { discard: true })
  }).pipe(
    Effect.catch((error) =>
      Effect.logWarning("an ordered endpoint cannot be taken yet", error).pipe(
        Effect.andThen(Effect.forkIn(Effect.delay(state.again, againAfter), state.deps.scope))
      )
    )
  )

/** Clears the mark first: a change during the call to the broker marks the endpoint again. */
const followMarked = (state: State, id: string) =>
  Effect.suspend(() => {
    state.unfollowed.delete(id)
    return Effect.onError(follow(state, id), () => Effect.sync(() => void state.unfollowed.add(id)))
  })

type Services = Effect.Services<ReturnType<typeof consume<DueDelivery, never>>>

const open = Effect.fnUntraced(function* (state: State, consumer: ConsumerDeclaration) {
  const { deps, running } = state
  const known = running.consumptions.get(keyOf(consumer))
  if (known !== undefined) {
    if (known.unackedMax === consumer.unackedMax) return
    yield* known.consumption.resize(consumer.unackedMax)
    known.unackedMax = consumer.unackedMax
    return
  }
  const scope = yield* Scope.fork(deps.scope)
  const lane = deps.lanes.all.find((each) => deliveryStream(each) === consumer.stream) ?? 0
  const handler = handlerOf(state, consumer, lane)
  const consumption = yield* consume({ consumer, codec: dueDeliveryCodec, origin: "deliveries", handler }).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  const { stream, durable, unackedMax, filterSubjects } = consumer
  state.unfollowed.add(endpointOf(durable))
  const filterSubject = filterSubjects[0] ?? ""
  running.consumptions.set(keyOf(consumer), { consumption, scope, stream, durable, filterSubject, unackedMax })
})

const handlerOf = (state: State, { durable }: ConsumerDeclaration, lane: number) => {
  if (isOrdered(durable)) return (received: Received<DueDelivery>) => handleOrdered(state, lane, received)
  return state.deps.lanes.all.length === 1
    ? (received: Received<DueDelivery>) => handle(state, received)
    : (received: Received<DueDelivery>) => handleInLane(state, lane, received)
}

/** Running work is handed back; another consumer gets it at once. */
const close = Effect.fnUntraced(function* ({ deps, running }: State, key: string) {
  const known = running.consumptions.get(key)
  if (known === undefined) return
  yield* Scope.close(known.scope, Exit.void)
  const { stream, durable } = known
  const id = endpointOf(durable)
  const isTaken = deps.order.takes(id)
  if (isOrdered(durable) && consumersOf(running, id).length === 1) yield* deps.order.close(id)
  // An ordered endpoint's consumer may be its next taker's by now.
  if (isTaken || !isOrdered(durable)) yield* deps.consumers.remove(stream, durable)
  running.consumptions.delete(key)
})

/** Removes consumers of DELIVERIES, and of the other lanes, that no endpoint needs. */
const removeOthers = Effect.fnUntraced(function* ({ deps }: State) {
  const wanted = new Set(declaredConsumers(deps, () => true).map(keyOf))
  for (const lane of deps.lanes.all) {
    const stream = deliveryStream(lane)
    const present = yield* deps.consumers.names(stream)
    const others = present.filter((durable) => !wanted.has(keyOf({ stream, durable })))
    yield* Effect.forEach(others, (name) => deps.consumers.remove(stream, name), { concurrency: 8, discard: true })
  }
})

const follow = Effect.fnUntraced(function* ({ deps, running, workers }: State, id: string) {
  const worker = workers.get(id)
  if (worker === undefined) return
  const { states, consumers, metrics } = deps
  // It may have been held until now: paused, disabled, or by its breaker.
  metrics.held(worker.settings(), yield* Clock.currentTimeMillis)
  yield* worker.breaker.adopt(states.get(id)?.breakerOpenUntilMs ?? null)
  for (const { stream, durable } of consumersOf(running, id)) {
    const untilMs = heldUntilMs(deps, worker)
    if (untilMs === null) yield* consumers.resume(stream, durable)
    else yield* consumers.pause(stream, durable, untilMs)
  }
})

/** The name of the consumer that takes what is due. */
const takerOf = ({ deps, running: { inPartitions } }: State, { lane, endpointId, subject }: DueInLane) => {
  const isInOrder = subject === subjects.deliveries(lane).due(orderedPartition, endpointId)
  const hasOrder = deps.endpoints.byId(endpointId)?.orderKey !== undefined
  if (inPartitions ? isInOrder : hasOrder) return orderedDurableOf(endpointId)
  return inPartitions ? partitionDurableOf(deliveryPartitionOf(endpointId)) : durableOf(endpointId)
}

/** Until when the broker should hold an endpoint's deliveries. */
const heldUntilMs = ({ states }: Dependencies, worker: EndpointWorker) => {
  const settings = worker.settings()
  const state = states.get(settings.id)
  if (state?.paused != null || !isEnabled(settings)) return farFutureMs
  return state?.breakerOpenUntilMs ?? null
}

/**
 * Marks the endpoints whose deliveries the broker holds, or delivers, contrary to their state: a dispatcher since
 * killed may have been the last to set the broker, from outdated knowledge.
 */
const markHeldWrongly = Effect.fnUntraced(function* ({ deps, running, workers, unfollowed }: State) {
  if (running.inPartitions) return
  const nowMs = yield* Clock.currentTimeMillis
  for (const stream of new Set([...running.consumptions.values()].map((open) => open.stream))) {
    let [offset, total] = [0, 0]
    do {
      const page = yield* deps.consumers.page(stream, offset)
      for (const { name, isPaused } of page.consumers) {
        const id = endpointOf(name)
        const worker = workers.get(id)
        if (worker !== undefined && isPaused !== (heldUntilMs(deps, worker) ?? 0) > nowMs) unfollowed.add(id)
      }
      offset += page.consumers.length
      total = page.consumers.length === 0 ? 0 : page.total
    } while (offset < total)
  }
})

/** Ordered endpoints are another process's as soon as none of their requests is on its way. */
const drain = ({ deps: { order }, running }: State, patienceMs: number) =>
  Effect.gen(function* () {
    running.isDraining = true
    yield* order.closeAll
    const open = Map.groupBy(running.consumptions.values(), ({ durable }) => isOrdered(durable))
    const drainOf = (ordered: boolean) =>
      drainAll(
        (open.get(ordered) ?? []).map(({ consumption }) => consumption),
        patienceMs
      )
    const drained = [Effect.tap(drainOf(true), () => order.release), drainOf(false)]
    return yield* drainAll(
      drained.map((report) => ({ drain: () => report })),
      patienceMs
    )
  })

// For an unknown endpoint: it is absent from the configuration, or about to be archived.
const unknownDelayMs = 60_000
const lanesUnreadDelayMs = 1_000

const handle = (state: State, received: Received<DueDelivery>): Effect.Effect<AckDecision> => {
  const worker = state.workers.get(received.value.delivery.endpointId)
  if (worker === undefined) return handleUnknown(state, received)
  const settings = worker.settings()
  if (!isOf(settings, received.value.delivery)) return state.deps.attempts.archive(received.value, settings.name)
  return state.running.inPartitions ? handleInPartition(state.deps, worker, received) : worker.handle(received)
}

/**
 * A delivery of an endpoint that moved is forwarded to its lane. Every other one is made here, including one of an
 * endpoint that is yet to leave, and its retries wait here.
 */
const handleInLane = (state: State, lane: number, received: Received<DueDelivery>): Effect.Effect<AckDecision> => {
  const { endpoints, lanes } = state.deps
  const { endpointId } = received.value.delivery
  return Effect.matchEffect(lanes.elsewhere(endpointId, lane), {
    onFailure: () => Effect.succeed(nak(lanesUnreadDelayMs)),
    onSuccess: (other) => {
      if (other === undefined) return handle(state, { ...received, value: { ...received.value, lane } })
      // Deliveries about to be archived stay in place: elsewhere they would reach an endpoint recreated under the name.
      return endpoints.leaving().has(endpointId) ? Effect.succeed(nak(unknownDelayMs)) : lanes.forward(received, other)
    }
  })
}

/** Made in whichever lane it is found; its retries wait in the lane to which its endpoint moved, if it did. */
const handleOrdered = Effect.fnUntraced(function* (
  state: State,
  lane: number,
  received: Received<DueDelivery>
): Effect.fn.Return<AckDecision> {
  const { deps, workers } = state
  const { delivery } = received.value
  const worker = workers.get(delivery.endpointId)
  if (worker === undefined) return yield* handleUnknown(state, received)
  const settings = worker.settings()
  if (!isOf(settings, delivery)) return yield* deps.attempts.archive(received.value, settings.name)
  const other = yield* Effect.orElseSucceed(deps.lanes.elsewhere(delivery.endpointId, lane), () => undefined)
  const here = { ...received, value: { ...received.value, lane: other ?? lane } }
  // What was left when its order had ended goes as it comes.
  if (settings.orderKey !== undefined) return yield* deps.handleOrdered(worker, here)
  return yield* state.running.inPartitions ? handleInPartition(deps, worker, here) : worker.handle(here)
})

/** Another process's fan-out can know an endpoint a moment before this one does. */
const handleUnknown = Effect.fnUntraced(function* (state: State, received: Received<DueDelivery>) {
  yield* Effect.ignore(state.deps.endpoints.catchUp)
  const worker = state.workers.get(received.value.delivery.endpointId)
  return worker === undefined ? nak(unknownDelayMs) : nak()
})

/**
 * Endpoints of a partition share its consumer, so a delivery that cannot go now is never held: it is rescheduled
 * (endpoint full: half a second; breaker open: until it can be probed; paused: a minute) and acked.
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
  return yield* attempts.postpone(received.value, obstacle.untilMs)
})

const fullDelayMs = 500
const pausedDelayMs = 60_000

interface Obstacle {
  readonly reason: "full" | "circuit_open" | "paused"
  readonly untilMs: number
}

export const obstacleTo = (
  worker: Pick<EndpointWorker, "breaker" | "settings" | "inWork">,
  states: Pick<EndpointStates["Service"], "get" | "isPaused">,
  nowMs: number
): Obstacle | undefined => {
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
