/** The metrics of deliveries. Their handles are made once, for they sit on the hot path. */
import { Context, Effect, Layer } from "effect"
import type { Delivery } from "#contracts"
import type { EgressError } from "#egress"
import { Metrics } from "#runtime"
import type { Attempted } from "./delivery-attempt.ts"
import type { EndpointSettings } from "./endpoints/settings.ts"
import {
  attempts,
  backoff,
  currentBackoff,
  deliveries,
  deliveriesMade,
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
      const perEndpoint = [
        attemptsTotal,
        deliveriesTotal,
        postponedTotal,
        testsTotal,
        metrics.counter(deliveriesMade),
        metrics.counter(parkedExpired)
      ]
      const parked = metrics.gauge(parkedEvents)
      const receiver = metrics.histogram(receiverSeconds)
      const firstByte = metrics.histogram(publishToFirstByteSeconds)
      const delivered = metrics.histogram(publishToDeliveredSeconds)
      const backoffSeconds = metrics.histogram(backoff)
      const backoffNow = metrics.gauge(currentBackoff)
      const lateness = metrics.histogram(retryLateness)
      const backedOff = new Set<string>()

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
        begin: ({ name }) => {
          for (const counter of perEndpoint) counter.begin({ endpoint: name })
          parked.set({ endpoint: name }, 0)
        }
      })
    })
  )
}

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
