/**
 * The metrics of webhook delivery. The endpoint label is the configured Name, never a URL.
 *
 * Handles of the delivery metrics are created once, because they are on the hot path.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { outsiders, userOf } from "#bus"
import type { Delivery } from "#webhooks/contract"
import { eventCatalogue } from "#base"
import { defineCounter, defineGauge, defineHistogram, Metrics } from "#runtime"

import type { Attempted } from "./delivery-attempt.ts"
import type { EndpointSettings } from "./endpoints/settings.ts"
import { type AttemptResult, type Decision, isSuccess } from "./retry-policy.ts"

const latencySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export const eventsReceived = defineCounter({
  name: "webhook_events_received_total",
  help: "Events read from EVENTS by the fan-out, by event name and by the user of the broker that published them; `fleet` for the fleet's own.",
  labels: ["event", "publisher"],
  values: {
    event: [...eventCatalogue.map(({ name }) => name), "other"],
    publisher: ["fleet", ...outsiders.map(userOf)]
  }
})

export const deliveries = defineCounter({
  name: "webhook_deliveries_total",
  help: "Deliveries that came to an end, by endpoint and outcome: delivered, abandoned, gone.",
  labels: ["endpoint", "outcome"],
  values: { outcome: ["delivered", "abandoned", "gone"] }
})

export const attempts = defineCounter({
  name: "webhook_attempts_total",
  help: "Attempts by endpoint and status class: 2xx, 3xx, 4xx, 5xx, timeout, unreachable, refused.",
  labels: ["endpoint", "status_class"],
  values: { status_class: ["2xx", "3xx", "4xx", "5xx", "timeout", "unreachable", "refused"] }
})

export const receiverSeconds = defineHistogram({
  name: "webhook_receiver_seconds",
  help: "From sending a request to its answer or failure, by endpoint.",
  labels: ["endpoint"],
  buckets: latencySeconds
})

export const publishToFirstByteSeconds = defineHistogram({
  name: "webhook_publish_to_first_byte_seconds",
  help: "From an event's storage in EVENTS to the first byte of its first attempt leaving for the receiver.",
  labels: ["endpoint"],
  buckets: latencySeconds
})

export const publishToDeliveredSeconds = defineHistogram({
  name: "webhook_publish_to_delivered_seconds",
  help: "From an event's storage in EVENTS to its delivery, retries included.",
  labels: ["endpoint"],
  buckets: [...latencySeconds, 120, 300, 900, 3600]
})

export const retryLateness = defineHistogram({
  name: "webhook_retry_lateness_seconds",
  help: "How much later than due a retry left. Never negative.",
  labels: ["endpoint"],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
})

export const dispatchSeconds = defineHistogram({
  name: "webhook_dispatch_seconds",
  help: "The dispatcher's own part of the time, over all endpoints: until it had a delivery in hand to send, by attempt: first (from the event's storage in EVENTS), retry (from when it was due). Without deliveries that their endpoint held back meanwhile: all of its Concurrency in use, breaker open, paused, behind.",
  labels: ["attempt"],
  buckets: latencySeconds
})

export const endpointLatency = defineGauge({
  name: "webhook_endpoint_latency_seconds",
  help: "From sending a request to its answer or failure, by endpoint: the mean of about its last eight attempts from this process, newer ones weighing more.",
  labels: ["endpoint"]
})

export const inFlight = defineGauge({
  name: "webhook_in_flight",
  help: "Deliveries in work in this process, by endpoint.",
  labels: ["endpoint"]
})

export const backlog = defineGauge({
  name: "webhook_backlog",
  help: "Deliveries due and not yet finished, over all replicas, by endpoint.",
  labels: ["endpoint"]
})

export const oldestDueAge = defineGauge({
  name: "webhook_oldest_due_age_seconds",
  help: "Age of the oldest due delivery, by endpoint; 0 without a backlog.",
  labels: ["endpoint"]
})

export const retriesWaiting = defineGauge({
  name: "webhook_retries_waiting",
  help: "Deliveries that wait for their next attempt, over all endpoints.",
  labels: []
})

export const lanesMoving = defineGauge({
  name: "webhook_lanes_moving_endpoints",
  help: "Endpoints that another lane takes over once none of their deliveries is due in the old one; 0 unless the number of lanes changed.",
  labels: []
})

export const parkedEvents = defineGauge({
  name: "webhook_parked_events",
  help: "Events between what a parked endpoint has been given and the newest; 0 when it is in step.",
  labels: ["endpoint"]
})

export const parkedExpired = defineCounter({
  name: "webhook_parked_expired_total",
  help: "Events that a parked endpoint was not given: older than ParkedMaxDays, or no longer kept.",
  labels: ["endpoint"]
})

export const circuitState = defineGauge({
  name: "webhook_circuit_state",
  help: "0 closed, 1 half-open (one delivery probes), 2 open.",
  labels: ["endpoint"]
})

export const endpointPaused = defineGauge({
  name: "webhook_endpoint_paused",
  help: "1 while the endpoint is paused by an operator or by a 410, else 0.",
  labels: ["endpoint"]
})

export const tests = defineCounter({
  name: "webhook_tests_total",
  help: "Tests that operators sent, by endpoint and outcome: delivered, failed. They count nowhere else.",
  labels: ["endpoint", "outcome"],
  values: { outcome: ["delivered", "failed"] }
})

export const attemptRecordsDropped = defineCounter({
  name: "webhook_attempt_records_dropped_total",
  help: "Records of the delivery log that were lost because the log could not keep up or be written.",
  labels: []
})

export const postponed = defineCounter({
  name: "webhook_postponed_total",
  help: "Deliveries put off without an attempt, by endpoint and reason: full, circuit_open, paused, rate_limited.",
  labels: ["endpoint", "reason"],
  values: { reason: ["full", "circuit_open", "paused", "rate_limited"] }
})

export const waitingForKey = defineGauge({
  name: "webhook_waiting_for_key",
  help: "Deliveries of an ordered endpoint that wait for an earlier one of their key, by endpoint; 0 where another process takes it.",
  labels: ["endpoint"]
})

export const webhookMetrics = [
  waitingForKey,
  eventsReceived,
  deliveries,
  attempts,
  receiverSeconds,
  publishToFirstByteSeconds,
  publishToDeliveredSeconds,
  retryLateness,
  dispatchSeconds,
  endpointLatency,
  inFlight,
  backlog,
  oldestDueAge,
  retriesWaiting,
  lanesMoving,
  parkedEvents,
  parkedExpired,
  circuitState,
  endpointPaused,
  tests,
  attemptRecordsDropped,
  postponed
]

type PostponedFor = "full" | "circuit_open" | "paused" | "rate_limited"

interface DecidedAttempt {
  readonly endpoint: EndpointSettings
  readonly delivery: Delivery
  readonly sent: Attempted
  readonly decision: Decision
  readonly nowMs: number
}

/** The moment when an attempt's bytes leave. */
interface LeftAt {
  readonly nowMs: number
  /** When the dispatcher had it in hand: neither its turn nor a connection was waited for. */
  readonly takenMs: number
  /** Its endpoint takes no more than it does now. */
  readonly isHeld: boolean
}

export class DeliveryMetrics extends Context.Service<
  DeliveryMetrics,
  {
    /**
     * Records that an attempt's bytes have left: the first attempt measures our own latency, a later one its lateness.
     */
    readonly left: (endpoint: EndpointSettings, delivery: Delivery, at: LeftAt) => void
    /** The endpoint holds deliveries back: what waits for it until now waits for no dispatcher. */
    readonly held: (endpoint: EndpointSettings, nowMs: number) => void
    readonly attempted: (attempt: DecidedAttempt) => void
    readonly tested: (endpoint: EndpointSettings, outcome: "delivered" | "failed") => void
    readonly postponed: (endpoint: EndpointSettings, reason: PostponedFor) => void
    /** Initializes the endpoint's counters, and its parked events, to 0. */
    readonly begin: (endpoint: EndpointSettings) => void
    /**
     * Removes the series of a removed endpoint: its gauges at once, because they would freeze; its counters and
     * histograms once their final values have been scraped.
     */
    readonly end: (endpointId: string) => Effect.Effect<void>
  }
>()("starling/webhook-dispatcher/DeliveryMetrics") {
  static readonly layer = Layer.effect(
    DeliveryMetrics,
    Effect.gen(function* () {
      const metrics = yield* Metrics
      const attemptsTotal = metrics.counter(attempts)
      const deliveriesTotal = metrics.counter(deliveries)
      const postponedTotal = metrics.counter(postponed)
      const testsTotal = metrics.counter(tests)
      const receiver = metrics.histogram(receiverSeconds)
      const firstByte = metrics.histogram(publishToFirstByteSeconds)
      const delivered = metrics.histogram(publishToDeliveredSeconds)
      const lateness = metrics.histogram(retryLateness)
      const dispatch = metrics.histogram(dispatchSeconds)
      const latency = metrics.gauge(endpointLatency)
      const clock = yield* Clock.Clock
      const heldAtMs = new Map<string, number>()
      const meanMs = new Map<string, number>()
      const series = yield* endpointSeries
      return DeliveryMetrics.of({
        left: (endpoint, delivery, { nowMs, takenMs, isHeld }) => {
          if (delivery.isTest === true) return
          const labels = { endpoint: endpoint.name }
          const isFirst = delivery.attempt === 1
          const sinceMs = isFirst ? beganAtMs(delivery) : delivery.dueAt
          if (isFirst) firstByte.observe(labels, seconds(nowMs - sinceMs))
          else lateness.observe(labels, seconds(nowMs - sinceMs))
          if (isHeld) heldAtMs.set(endpoint.id, nowMs)
          else if (sinceMs > (heldAtMs.get(endpoint.id) ?? 0))
            dispatch.observe({ attempt: isFirst ? "first" : "retry" }, seconds(takenMs - sinceMs))
        },
        held: ({ id }, nowMs) => void heldAtMs.set(id, nowMs),
        attempted: ({ endpoint, delivery, sent, decision, nowMs }) => {
          const labels = { endpoint: endpoint.name }
          attemptsTotal.inc({ endpoint: endpoint.name, status_class: statusClass(sent.result, sent.error) })
          receiver.observe(labels, seconds(sent.durationMs))
          const mean = meanAfter(meanMs.get(endpoint.id), sent.durationMs)
          meanMs.set(endpoint.id, mean)
          latency.set(labels, Math.round(mean) / 1_000)
          if (decision._tag === "Retry") return
          if (decision._tag === "Delivered") delivered.observe(labels, seconds(nowMs - beganAtMs(delivery)))
          deliveriesTotal.inc({ endpoint: endpoint.name, outcome: outcomes[decision._tag] })
        },
        tested: (endpoint, outcome) => testsTotal.inc({ endpoint: endpoint.name, outcome }),
        postponed: (endpoint, reason) => {
          heldAtMs.set(endpoint.id, clock.currentTimeMillisUnsafe())
          postponedTotal.inc({ endpoint: endpoint.name, reason })
        },
        begin: (endpoint) => {
          // What was stored before has waited for no process of now.
          heldAtMs.set(endpoint.id, clock.currentTimeMillisUnsafe())
          series.begin(endpoint)
        },
        end: (id) => {
          heldAtMs.delete(id)
          meanMs.delete(id)
          return series.end(id)
        }
      })
    })
  )
}

/** One that an operator sends again has waited for the operator, and for no process. */
const beganAtMs = ({ storedAt, dueAt, redriveOf }: Delivery) => (redriveOf === undefined ? storedAt : dueAt)

/** The series of each endpoint, begun when it appears and ended after it is gone. */
const endpointSeries = Effect.gen(function* () {
  const metrics = yield* Metrics
  const counters = [
    metrics.counter(attempts),
    metrics.counter(deliveries),
    metrics.counter(postponed),
    metrics.counter(tests),
    metrics.counter(parkedExpired)
  ]
  const histograms = [receiverSeconds, publishToFirstByteSeconds, publishToDeliveredSeconds, retryLateness].map(
    (definition) => metrics.histogram(definition)
  )
  const gauges = [
    parkedEvents,
    backlog,
    oldestDueAge,
    waitingForKey,
    inFlight,
    circuitState,
    endpointPaused,
    endpointLatency
  ].map((definition) => metrics.gauge(definition))
  const parked = metrics.gauge(parkedEvents)
  const names = new Map<string, string>()
  const ended = new Map<string, number>()

  const endCounts = Effect.map(Clock.currentTimeMillis, (nowMs) => {
    for (const [name, endedMs] of ended) {
      if (nowMs - endedMs < countsKeptMs) continue
      ended.delete(name)
      for (const series of [...counters, ...histograms]) series.end({ endpoint: name })
    }
  })
  yield* Effect.forkScoped(Effect.repeat(endCounts, Schedule.spaced(endEvery)))
  return {
    begin: ({ id, name }: EndpointSettings) => {
      names.set(id, name)
      ended.delete(name)
      for (const counter of counters) counter.begin({ endpoint: name })
      parked.set({ endpoint: name }, 0)
    },
    end: (id: string) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const name = names.get(id)
        if (name === undefined) return
        names.delete(id)
        for (const gauge of gauges) gauge.end({ endpoint: name })
        ended.set(name, nowMs)
      })
  }
})

// Twice the one-minute maximum between scrapes.
const countsKeptMs = 120_000
const endEvery = "10 seconds"

const outcomes = { Delivered: "delivered", GiveUp: "abandoned", Gone: "gone" } as const

// Clocks of two machines differ, so a negative latency counts as zero.
const seconds = (ms: number) => Math.max(0, ms) / 1_000

const newestWeighs = 1 / 8

/** A mean that follows its newest values. */
export const meanAfter = (before: number | undefined, value: number): number =>
  before === undefined ? value : before + (value - before) * newestWeighs

type StatusClass = "2xx" | "3xx" | "4xx" | "5xx" | "timeout" | "unreachable" | "refused"

const statusClass = (result: AttemptResult, error: { readonly _tag: string } | undefined): StatusClass => {
  if (result._tag === "Answered") {
    if (isSuccess(result.status)) return "2xx"
    if (result.status < 400) return "3xx"
    return result.status < 500 ? "4xx" : "5xx"
  }
  if (error?._tag === "DeadlineExceeded") return "timeout"
  return error?._tag === "Unreachable" || error?._tag === "TokenUnavailable" ? "unreachable" : "refused"
}
