/**
 * An endpoint worker holds the state that one endpoint's deliveries share in this process: its breaker, the order of
 * its entities and its count of deliveries in work. `handle` takes a delivery from arrival to its ack.
 *
 * The breaker of one endpoint opens after 20 failures in a row that span at least 30 s, so that neither a burst nor a
 * slow trickle opens it. While it is open, nothing is sent and no delivery loses an attempt. After the pause one
 * delivery probes and the others wait; the probe's result decides for all. Pauses double from 30 s to 5 min. Replicas
 * learn of an opening through the endpoint's state.
 */
import { Clock, Context, Deferred, Effect, Exit, Fiber } from "effect"
import { type AckDecision, type BusError, nak, type Received } from "#bus"
import {
  afterFailure,
  type Breaker,
  type BreakerLimits as Limits,
  type BreakerPhase,
  breakerPhase,
  closedBreaker
} from "#runtime"
import type { Attempted, DeliveryAttempts } from "./delivery-attempt.ts"
import type { DueDelivery, EndpointStates } from "#webhooks"
import type { DeliveryMetrics } from "./metrics.ts"
import type { EndpointSettings } from "./endpoints/settings.ts"
import { newPace, type Pace } from "./pace.ts"
import { isSuccess, longestWaitMs } from "./retry-policy.ts"

export interface EndpointWorker {
  readonly settings: () => EndpointSettings
  readonly breaker: EndpointBreaker
  readonly inWork: () => number
  /** Delivers what can go now; never fails, however the receiver behaves. */
  readonly handle: (received: Received<DueDelivery>) => Effect.Effect<AckDecision>
  /** Continues with new settings; breaker, order and deliveries in work stay. */
  readonly change: (settings: EndpointSettings) => void
  /** Sends nothing more, and aborts requests in flight. Completes when none is left. */
  readonly stop: Effect.Effect<void>
}

export interface WorkerServices {
  readonly attempts: DeliveryAttempts["Service"]
  readonly states: EndpointStates["Service"]
  readonly metrics: DeliveryMetrics["Service"]
  readonly breakerLimits: BreakerLimits
  /** Whether a request can be sent to this endpoint at this moment. */
  readonly mayLeave: (endpoint: EndpointSettings) => boolean
  /** Whether no other process may have taken an ordered endpoint. */
  readonly isTaken: (endpointId: string) => boolean
  /** How many dispatchers share an endpoint's rate. */
  readonly dispatchers: () => number
  /** Has the broker send nothing to this endpoint until then (per-endpoint consumers only). */
  readonly pauseUntil: (untilMs: number) => Effect.Effect<void, BusError>
}

interface Worker {
  settings: EndpointSettings
  isStopped: boolean
  readonly leaving: () => boolean
  readonly sending: Set<Fiber.Fiber<unknown, unknown>>
  readonly services: WorkerServices
  readonly breaker: EndpointBreaker
  readonly order: EntityOrder
  readonly pace: Pace
  /** While sending is briefly suspended: whether it is allowed afterwards. */
  paused: Deferred.Deferred<boolean> | undefined
  inWork: number
}

export const endpointWorker = (settings: EndpointSettings, services: WorkerServices): EndpointWorker => {
  const breaker = endpointBreaker(() => worker.settings.hasBreaker, services.breakerLimits)
  const worker: Worker = {
    settings,
    isStopped: false,
    leaving: () => !worker.isStopped && services.mayLeave(worker.settings),
    sending: new Set(),
    services,
    breaker,
    order: entityOrder(),
    pace: newPace(),
    paused: undefined,
    inWork: 0
  }
  const go = (due: DueDelivery) =>
    Effect.flatMap(Clock.Clock, (clock) =>
      due.delivery.attempt === 1 && breaker.isPristine() ? send(worker, due, clock) : admit(worker, due, clock)
    )
  const handle = ({ value: due }: Received<DueDelivery>): Effect.Effect<AckDecision> =>
    Effect.suspend(() =>
      worker.leaving() ? go(due) : Effect.flatMap(mayLeaveAgain(worker), (may) => (may ? go(due) : nakSoon))
    )
  return {
    settings: () => worker.settings,
    breaker,
    handle,
    inWork: () => worker.inWork,
    change: (next) => {
      worker.settings = next
      worker.isStopped = false
    },
    stop: Effect.suspend(() => {
      worker.isStopped = true
      return Fiber.interruptAll(worker.sending)
    })
  }
}

// A busy process renews its presence late: the deliveries it has taken wait here, because one that is handed back loses
// its place. A process cut off for longer leaves them to others.
const heldMsMax = 10_000
const lookEveryMs = 50

/** Waits until sending to the endpoint is allowed; false when that takes too long. All that wait proceed in order. */
const mayLeaveAgain = (worker: Worker): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    if (worker.isStopped) return Effect.succeed(false)
    if (worker.paused !== undefined) return Deferred.await(worker.paused)
    worker.paused = Deferred.makeUnsafe()
    return Effect.andThen(Effect.forkDetach(endsPause(worker, worker.paused)), Deferred.await(worker.paused))
  })

const endsPause = Effect.fnUntraced(function* (worker: Worker, paused: Deferred.Deferred<boolean>) {
  for (let waitedMs = 0; waitedMs < heldMsMax && !worker.isStopped && !worker.leaving(); waitedMs += lookEveryMs)
    yield* Effect.sleep(lookEveryMs)
  worker.paused = undefined
  Deferred.doneUnsafe(paused, Effect.succeed(worker.leaving()))
})

// Sending to the endpoint is not allowed now; in a moment another dispatcher can, or the endpoint is gone.
const nakSoon: Effect.Effect<AckDecision> = Effect.succeed(nak(1_000))

/** For a retry, or an endpoint with a recent failure: the breaker decides, and the delivery waits for its due time. */
const admit = Effect.fnUntraced(function* (worker: Worker, due: DueDelivery, clock: Clock.Clock) {
  const { settings, breaker } = worker
  const admission = yield* breaker.admit
  if (admission._tag === "Wait") return putOff(worker, admission.untilMs, clock)
  const { attempt, dueAt } = due.delivery
  // No retry of this endpoint waits for longer: a delivery that would keep its place forever did not come from it.
  const isPlanned = dueAt - clock.currentTimeMillisUnsafe() <= longestWaitMs(settings.retry)
  if (attempt > 1 && isPlanned) yield* counted(worker, waitUntil(dueAt, clock))
  return yield* send(worker, due, clock)
})

// Every delivery takes this path, so it has as few steps as possible.
const send = (worker: Worker, due: DueDelivery, clock: Clock.Clock): Effect.Effect<AckDecision> =>
  Effect.suspend(() => {
    const { breaker, order, sending } = worker
    const { attempts, metrics } = worker.services
    const { delivery } = due
    const isFirst = delivery.attempt === 1 && delivery.entity !== undefined
    const turn = isFirst ? order.enter(delivery.entity) : undefined
    const takenMs = clock.currentTimeMillisUnsafe()
    let isPaced = false
    const onLeave = () => {
      turn?.left()
      const nowMs = clock.currentTimeMillisUnsafe()
      const isFull = worker.inWork >= worker.settings.concurrency
      const isHeld = isFull || isPaced || breaker.phaseAt(nowMs) !== "closed"
      metrics.left(worker.settings, delivery, { nowMs, takenMs, isHeld })
    }
    const { isTaken } = worker.services
    const mayLeave =
      delivery.key === undefined ? worker.leaving : () => worker.leaving() && isTaken(delivery.endpointId)
    const leaving = { mayLeave, onLeave }
    const sent: Effect.Effect<AckDecision> = Effect.suspend(() => {
      const { settings } = worker
      return Effect.flatMap(attempts.attempt(settings, due, leaving), (attempted) => {
        const concluded = conclude(worker, due, { endpoint: settings, attempted })
        if (attempted.error?._tag !== "Withdrawn") return concluded
        return Effect.flatMap(mayLeaveAgain(worker), (may) => (may && mayLeave() ? sent : concluded))
      })
    })
    const paced =
      worker.settings.ratePerSecond === undefined
        ? sent
        : Effect.flatMap(inSlot(worker, clock), (waited) => {
            isPaced = waited
            const untilMs = waited ? breaker.openUntilMs(clock.currentTimeMillisUnsafe()) : null
            return untilMs === null ? sent : Effect.succeed(putOff(worker, untilMs, clock))
          })
    worker.inWork += 1
    return Effect.withFiber((fiber) => {
      sending.add(fiber)
      return Effect.onExit(turn?.before === undefined ? paced : Effect.andThen(turn.before, paced), (exit) => {
        sending.delete(fiber)
        worker.inWork -= 1
        turn?.left()
        return Exit.hasInterrupts(exit) ? breaker.release : Effect.void
      })
    })
  })

/** Waits for the delivery's slot in the endpoint's rate; returns whether it had to. */
const inSlot = ({ settings, services, pace }: Worker, clock: Clock.Clock): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { ratePerSecond = Number.POSITIVE_INFINITY } = settings
    const perSecond = ratePerSecond / services.dispatchers()
    const waitMs = pace.takeMs({ perSecond, nowMs: clock.currentTimeMillisUnsafe() })
    if (waitMs < 1) return Effect.succeed(false)
    services.metrics.postponed(settings, "rate_limited")
    return Effect.as(Effect.sleep(waitMs), true)
  })

/** The breaker is open: the broker keeps the delivery until it can be probed, and no attempt is used up. */
const putOff = ({ settings, services }: Worker, untilMs: number, clock: Clock.Clock): AckDecision => {
  services.metrics.postponed(settings, "circuit_open")
  return nak(Math.max(0, untilMs - clock.currentTimeMillisUnsafe()))
}

interface Sent {
  /** As of when the delivery was sent. */
  readonly endpoint: EndpointSettings
  readonly attempted: Attempted
}

const conclude = (worker: Worker, due: DueDelivery, { endpoint: settings, attempted }: Sent) => {
  const { services, breaker } = worker
  const { result, error } = attempted
  if (error?._tag === "Withdrawn") return Effect.andThen(breaker.release, nakSoon)
  const success = result._tag === "Answered" && isSuccess(result.status)
  const concluded = services.attempts.conclude(settings, due, attempted)
  if (!settings.hasBreaker || (success && breaker.isPristine())) return concluded
  return Effect.andThen(reportEnd(worker, success), concluded)
}

const reportEnd = Effect.fnUntraced(function* ({ settings, services, breaker }: Worker, success: boolean) {
  const { openedUntilMs, closed } = yield* breaker.report(success)
  if (openedUntilMs === null && !closed) return
  const log = closed ? "an endpoint answers again" : "an endpoint keeps failing; its breaker is open"
  yield* Effect.logWarning(log).pipe(Effect.annotateLogs({ endpoint: settings.name, untilMs: openedUntilMs }))
  const shared = services.states.breakerOpen(settings.id, settings.name, openedUntilMs)
  const pause = openedUntilMs === null ? Effect.void : services.pauseUntil(openedUntilMs)
  // The breaker still works in this process; other replicas learn of it at the next opening.
  yield* Effect.andThen(pause, shared).pipe(
    Effect.catch((error) => Effect.logWarning("the breaker could not be shared", error))
  )
})

// Counts waiting retries too: those due together arrive together, and each must take the others into account.
const counted = (worker: Worker, waiting: Effect.Effect<void>) =>
  Effect.suspend(() => {
    worker.inWork += 1
    return Effect.ensuring(
      waiting,
      Effect.sync(() => (worker.inWork -= 1))
    )
  })

// The failure's time and the clock are both truncated to milliseconds; with one more, a retry is never early.
const cutOffMs = 1

/** Waits until `dueAtMs` has passed. A timer can fire slightly early, so the clock decides. */
const waitUntil = Effect.fnUntraced(function* (dueAtMs: number, clock: Clock.Clock) {
  const leftMs = () => dueAtMs + cutOffMs - clock.currentTimeMillisUnsafe()
  while (leftMs() > 0) yield* Effect.sleep(leftMs())
})

interface EntityTurn {
  /** Undefined when no delivery is ahead. */
  readonly before: Effect.Effect<void> | undefined
  readonly left: () => void
}

/**
 * The order of an endpoint's entities: the first attempts for one entity leave in the order of their events. Each waits
 * until the bytes of the previous one were handed to a socket. It does not wait for the answer, so a slow receiver
 * holds up nothing, and a retry can be overtaken.
 */
export interface EntityOrder {
  /**
   * Joins the entity's queue; call it when the message arrives. `before` completes when the one ahead has left; `left`
   * releases the next one and can be called more than once.
   */
  readonly enter: (entity: string) => EntityTurn
}

export const entityOrder = (): EntityOrder => {
  const lines = new Map<string, Deferred.Deferred<void>>()
  return {
    enter: (entity) => {
      const ahead = lines.get(entity)
      const mine = Deferred.makeUnsafe<void>()
      lines.set(entity, mine)
      return {
        before: ahead === undefined ? undefined : Deferred.await(ahead),
        left: () => {
          Deferred.doneUnsafe(mine, Effect.void)
          if (lines.get(entity) === mine) lines.delete(entity)
        }
      }
    }
  }
}

/** Whether a delivery can go. `Wait`: not before a moment (epoch ms), and without using an attempt. */
type Admission = { readonly _tag: "Go" } | { readonly _tag: "Wait"; readonly untilMs: number }

export interface EndpointBreaker {
  /** Closed, with nothing to remember: a delivery can go, and a success need not be reported. */
  readonly isPristine: () => boolean
  readonly admit: Effect.Effect<Admission>
  /** Takes the result of an attempt. Returns until when the breaker is open, if it has just opened. */
  readonly report: (
    success: boolean
  ) => Effect.Effect<{ readonly openedUntilMs: number | null; readonly closed: boolean }>
  /** The probe ended without a result (handed back on drain): another one can probe. */
  readonly release: Effect.Effect<void>
  /** Adopts the decision of another replica (opened) or an operator (closed). */
  readonly adopt: (openUntilMs: number | null) => Effect.Effect<void>
  readonly phaseAt: (nowMs: number) => BreakerPhase
  /** Null while it is not open. */
  readonly openUntilMs: (nowMs: number) => number | null
  /** Half-open, with the probe in flight. */
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
    openUntilMs: (nowMs) => (breakerPhase(breaker, nowMs) === "open" ? breaker.openUntilMs : null),
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
