/** The metrics of deliveries. Their handles are made once, for they sit on the hot path. */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import type { Delivery } from "#contracts"
import type { EgressError } from "#egress"
import { Metrics } from "#runtime"
import type { Attempted } from "./delivery-attempt.ts"
import type { EndpointSettings } from "./endpoints/settings.ts"
import {
  attempts,
  backlog,
  backoff,
  circuitState,
  currentBackoff,
  deliveries,
  deliveriesMade,
  endpointPaused,
  inFlight,
  oldestDueAge,
  parkedEvents,
  parkedExpired,
  postponed,
  publishToDeliveredSeconds,
  publishToFirstByteSeconds,
  receiverSeconds,
  retryLateness,
  tests
} from "./metrics.ts"
import { type AttemptResult, type Decision, isSuccess } from "./retry-policy.ts"

interface DecidedAttempt {
  readonly endpoint: EndpointSettings
  readonly delivery: Delivery
  readonly sent: Attempted
  readonly decision: Decision
  readonly nowMs: number
}

export class DeliveryMetrics extends Context.Service<
  DeliveryMetrics,
  {
    /**
     * Records that an attempt's bytes have left: the first attempt measures our own latency, a later one its lateness.
     */
    readonly left: (endpoint: EndpointSettings, delivery: Delivery, nowMs: number) => void
    readonly attempted: (attempt: DecidedAttempt) => void
    readonly tested: (endpoint: EndpointSettings, outcome: "delivered" | "failed") => void
    readonly postponed: (endpoint: EndpointSettings, reason: "full" | "circuit_open" | "paused") => void
    /** Begins the endpoint's counters, and its parked events, at 0. */
    readonly begin: (endpoint: EndpointSettings) => void
    /**
     * Takes out the series of a removed endpoint: its gauges at once, for they would stand still; its counters and
     * histograms when whoever reads them has seen the last counts.
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
      const backoffSeconds = metrics.histogram(backoff)
      const backoffNow = metrics.gauge(currentBackoff)
      const lateness = metrics.histogram(retryLateness)
      const backedOff = new Set<string>()
      const series = yield* endpointSeries
      return DeliveryMetrics.of({
        left: (endpoint, delivery, nowMs) => {
          if (delivery.isTest === true) return
          const labels = { endpoint: endpoint.name }
          if (delivery.attempt === 1) firstByte.observe(labels, seconds(nowMs - delivery.storedAt))
          else lateness.observe(labels, seconds(nowMs - delivery.dueAt))
        },
        attempted: ({ endpoint, delivery, sent, decision, nowMs }) => {
          const labels = { endpoint: endpoint.name }
          attemptsTotal.inc({ endpoint: endpoint.name, status_class: statusClass(sent.result, sent.error) })
          receiver.observe(labels, seconds(sent.durationMs))
          if (decision._tag === "Retry") {
            backoffSeconds.observe(labels, seconds(decision.delayMs))
            backoffNow.set(labels, seconds(decision.delayMs))
            backedOff.add(endpoint.id)
            return
          }
          if (backedOff.delete(endpoint.id)) backoffNow.set(labels, 0)
          if (decision._tag === "Delivered") delivered.observe(labels, seconds(nowMs - delivery.storedAt))
          deliveriesTotal.inc({ endpoint: endpoint.name, outcome: outcomes[decision._tag] })
        },
        tested: (endpoint, outcome) => testsTotal.inc({ endpoint: endpoint.name, outcome }),
        postponed: (endpoint, reason) => postponedTotal.inc({ endpoint: endpoint.name, reason }),
        begin: series.begin,
        end: (id) =>
          Effect.andThen(
            Effect.sync(() => void backedOff.delete(id)),
            series.end(id)
          )
      })
    })
  )
}

/** The series of each endpoint, begun when it comes and ended after it is gone. */
const endpointSeries = Effect.gen(function* () {
  const metrics = yield* Metrics
  const counters = [
    metrics.counter(attempts),
    metrics.counter(deliveries),
    metrics.counter(postponed),
    metrics.counter(tests),
    metrics.counter(deliveriesMade),
    metrics.counter(parkedExpired)
  ]
  const histograms = [
    receiverSeconds,
    publishToFirstByteSeconds,
    publishToDeliveredSeconds,
    backoff,
    retryLateness
  ].map((definition) => metrics.histogram(definition))
  const gauges = [currentBackoff, parkedEvents, backlog, oldestDueAge, inFlight, circuitState, endpointPaused].map(
    (definition) => metrics.gauge(definition)
  )
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

// Twice the minute that scrapes are apart at most.
const countsKeptMs = 120_000
const endEvery = "10 seconds"

const outcomes = { Delivered: "delivered", GiveUp: "abandoned", Gone: "gone" } as const

// Clocks of two machines differ, so a latency is cut off at zero.
const seconds = (ms: number) => Math.max(0, ms) / 1_000

type StatusClass = "2xx" | "3xx" | "4xx" | "5xx" | "timeout" | "unreachable" | "refused"

const statusClass = (result: AttemptResult, error: EgressError | undefined): StatusClass => {
  if (result._tag === "Answered") {
    if (isSuccess(result.status)) return "2xx"
    if (result.status < 400) return "3xx"
    return result.status < 500 ? "4xx" : "5xx"
  }
  if (error?._tag === "DeadlineExceeded") return "timeout"
  return error?._tag === "Unreachable" ? "unreachable" : "refused"
}
