/** What deliveries leave in the metrics, with the handles made once: this sits on the hot path. */
import { Context, Effect, Layer } from "effect"
import type { Delivery } from "#contracts"
import { Metrics } from "#runtime"
import { statusClass } from "./attempt-record.ts"
import type { Attempted } from "./Courier.ts"
import type { EndpointSettings } from "./endpoint-settings.ts"
import {
  attempts,
  backoff,
  currentBackoff,
  deliveries,
  postponed,
  publishToDeliveredSeconds,
  publishToFirstByteSeconds,
  receiverSeconds,
  retryLateness
} from "./metrics.ts"
import type { Decision } from "./retry-policy.ts"

export class CourierMetrics extends Context.Service<
  CourierMetrics,
  {
    /** The bytes of an attempt have left: the first attempt measures our own latency, a later one its lateness. */
    readonly left: (endpoint: EndpointSettings, delivery: Delivery, nowMs: number) => void
    readonly attempted: (
      endpoint: EndpointSettings,
      delivery: Delivery,
      sent: Attempted,
      decision: Decision,
      nowMs: number
    ) => void
    readonly postponed: (endpoint: EndpointSettings, reason: "full" | "circuit_open" | "paused") => void
  }
>()("starling/webhook-dispatcher/CourierMetrics") {
  static readonly layer = Layer.effect(
    CourierMetrics,
    Effect.gen(function* () {
      const metrics = yield* Metrics
      const attemptsTotal = metrics.counter(attempts)
      const deliveriesTotal = metrics.counter(deliveries)
      const postponedTotal = metrics.counter(postponed)
      const receiver = metrics.histogram(receiverSeconds)
      const firstByte = metrics.histogram(publishToFirstByteSeconds)
      const delivered = metrics.histogram(publishToDeliveredSeconds)
      const backoffSeconds = metrics.histogram(backoff)
      const backoffNow = metrics.gauge(currentBackoff)
      const lateness = metrics.histogram(retryLateness)
      const backedOff = new Set<string>()

      return CourierMetrics.of({
        left: (endpoint, delivery, nowMs) => {
          const labels = { endpoint: endpoint.name }
          if (delivery.attempt === 1) firstByte.observe(labels, seconds(nowMs - delivery.storedAt))
          else lateness.observe(labels, seconds(nowMs - delivery.dueAt))
        },
        attempted: (endpoint, delivery, sent, decision, nowMs) => {
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
        postponed: (endpoint, reason) => postponedTotal.inc({ endpoint: endpoint.name, reason })
      })
    })
  )
}

const outcomes = { Delivered: "delivered", GiveUp: "abandoned", Gone: "gone" } as const

// Clocks of two machines differ: a latency is never negative.
const seconds = (ms: number) => Math.max(0, ms) / 1_000
