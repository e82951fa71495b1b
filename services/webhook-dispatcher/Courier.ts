/**
 * Makes one attempt and brings what follows from it to the bus. The order of writes is what makes a crash
 * harmless: the retry or the abandonment is stored first, then the message is acked. A crash in between
 * sends once more, with the same X-Service-Delivery; nothing is lost.
 *
 * While the broker is away, what must be stored is tried again until it is back; the message is kept alive
 * meanwhile, and on drain it is handed back unfinished.
 */
import { Clock, Context, Effect, Layer, Random, Schedule } from "effect"
import { type BusError, ack, nak, Publisher, scheduleHeaders, type AckDecision } from "#bus"
import { isoTime, subjects } from "#contracts"
import type { EgressError, EgressResponse } from "#egress"
import { Secrets } from "#runtime"
import { Archive } from "./Archive.ts"
import { attemptRecord, errorResult, resultOf } from "./attempt-record.ts"
import { AttemptLog } from "./AttemptLog.ts"
import { CourierMetrics } from "./CourierMetrics.ts"
import { deliveryHeaders, type DueDelivery } from "./delivery-codec.ts"
import type { EndpointSettings } from "./endpoint-settings.ts"
import { EndpointStates } from "./EndpointStates.ts"
import { Receivers } from "./Receivers.ts"
import { requestHeaders } from "./request-headers.ts"
import { type AttemptResult, decide, type Decision, describe } from "./retry-policy.ts"

/** An attempt as it went. */
export interface Attempted {
  readonly result: AttemptResult
  readonly error: EgressError | undefined
  readonly body: Uint8Array
  readonly startedAtMs: number
  readonly durationMs: number
}

export interface Courier_ {
  /** Sends once. `onLeave` is called when the bytes go to the receiver. */
  readonly attempt: (endpoint: EndpointSettings, due: DueDelivery, onLeave: () => void) => Effect.Effect<Attempted>
  /** Decides and stores what follows; the message may be settled with what it answers. */
  readonly conclude: (endpoint: EndpointSettings, due: DueDelivery, attempted: Attempted) => Effect.Effect<AckDecision>
  /** Puts a delivery off until a moment (epoch ms) without counting an attempt. */
  readonly postpone: (due: DueDelivery, subject: string, untilMs: number) => Effect.Effect<AckDecision>
}

// The receiver's answer is read to this size, to be seen in the delivery log.
const answerBytesMax = 4_096
// The broker is usually back within seconds; asking twice a second costs nothing.
const storeAgainEvery = "500 millis"
// A refusal by the broker is our bug or a broken deployment: slow down and be loud.
const refusedDelayMs = 5_000

export class Courier extends Context.Service<Courier, Courier_>()("starling/webhook-dispatcher/Courier") {
  static readonly layer = Layer.effect(
    Courier,
    Effect.gen(function* () {
      const receivers = yield* Receivers
      const publisher = yield* Publisher
      const archive = yield* Archive
      const log = yield* AttemptLog
      const states = yield* EndpointStates
      const metrics = yield* CourierMetrics
      const { redact } = yield* Secrets
      const clock = yield* Clock.Clock
      const randomness = yield* Random.Random

      const attempt: Courier_["attempt"] = (endpoint, due, onLeave) => {
        const startedAtMs = clock.currentTimeMillisUnsafe()
        const request = receivers.request({
          method: "POST",
          url: endpoint.url,
          lane: endpoint.id,
          connectionsMax: endpoint.concurrency,
          headers: requestHeaders(endpoint, due.delivery, due.body, startedAtMs),
          body: due.body,
          deadlineMs: endpoint.timeoutMs,
          responseBytesMax: answerBytesMax,
          onLeave
        })
        const tookMs = () => clock.currentTimeMillisUnsafe() - startedAtMs
        return Effect.match(request, {
          onSuccess: (response) => answered(response, startedAtMs, tookMs()),
          onFailure: (error) => notAnswered(error, startedAtMs, tookMs())
        })
      }

      const retry = (due: DueDelivery, subject: string, dueAtMs: number) => {
        const next = { ...due.delivery, attempt: due.delivery.attempt + 1, dueAt: dueAtMs }
        return schedule({ delivery: next, body: due.body }, subject, `${next.deliveryId}:${next.attempt}`)
      }

      const schedule = (due: DueDelivery, subject: string, messageId: string) =>
        publisher.publishRaw(subjects.deliveriesWait(due.delivery.endpointId, due.delivery.deliveryId), due.body, {
          messageId,
          headers: [...deliveryHeaders(due.delivery), ...scheduleHeaders(due.delivery.dueAt, subject)]
        })

      const abandon = Effect.fnUntraced(function* (
        endpoint: EndpointSettings,
        due: DueDelivery,
        sent: Attempted,
        reason: string
      ) {
        const abandonment = {
          endpoint: endpoint.name,
          reason,
          attempts: due.delivery.attempt,
          lastStatus: sent.result._tag === "Answered" ? sent.result.status : null,
          lastError: sent.result._tag === "NotAnswered" ? describe(sent.result) : null,
          abandonedAt: isoTime(sent.startedAtMs + sent.durationMs)
        }
        yield* archive.delivery(due, abandonment)
        yield* Effect.logWarning("a delivery is abandoned").pipe(
          Effect.annotateLogs({ ...abandonment, event: due.delivery.event, delivery: due.delivery.deliveryId })
        )
      })

      const store = (endpoint: EndpointSettings, due: DueDelivery, sent: Attempted, decision: Decision) => {
        switch (decision._tag) {
          case "Delivered":
            return Effect.void
          case "Retry":
            return Effect.asVoid(retry(due, subjects.deliveriesDue(endpoint.partition, endpoint.id), decision.dueAtMs))
          case "GiveUp":
            return abandon(endpoint, due, sent, decision.reason)
          case "Gone":
            return abandon(endpoint, due, sent, "410 Gone").pipe(
              Effect.andThen(
                states.pause(endpoint.id, endpoint.name, {
                  by: "webhook-dispatcher",
                  reason: "the receiver answered 410"
                })
              ),
              Effect.andThen(Effect.logError("an endpoint is gone and now paused; resume it when it is back")),
              Effect.annotateLogs({ endpoint: endpoint.name })
            )
        }
      }

      const conclude: Courier_["conclude"] = (endpoint, due, sent) => {
        const nowMs = clock.currentTimeMillisUnsafe()
        const random = endpoint.retry.jitter === 0 ? 0 : randomness.nextDoubleUnsafe()
        const decision = decide(sent.result, due.delivery.attempt, endpoint.retry, nowMs, random)
        metrics.attempted(endpoint, due.delivery, sent, decision, nowMs)
        log.add(endpoint.id, attemptRecord(due.delivery, endpoint.name, { ...sent, decision }, redact))
        return decision._tag === "Delivered" ? delivered : stored(store(endpoint, due, sent, decision))
      }

      const postpone: Courier_["postpone"] = (due, subject, untilMs) => {
        const later = { ...due.delivery, dueAt: Math.round(untilMs) }
        const messageId = `${later.deliveryId}:${later.attempt}:${later.dueAt}`
        return stored(schedule({ delivery: later, body: due.body }, subject, messageId))
      }
      return Courier.of({ attempt, conclude, postpone })
    })
  )
}

const stored = (store: Effect.Effect<unknown, BusError>): Effect.Effect<AckDecision> =>
  store.pipe(
    Effect.retry({
      schedule: Schedule.spaced(storeAgainEvery),
      while: (error) => error._tag === "BusUnavailable" || error._tag === "RevisionConflict"
    }),
    Effect.as(ack),
    Effect.catch((error) =>
      Effect.logError("the broker refused to store what follows from an attempt", error).pipe(
        Effect.as(nak(refusedDelayMs))
      )
    )
  )

const delivered = Effect.succeed(ack)
const noBody = new Uint8Array(0)

const answered = (response: EgressResponse, startedAtMs: number, durationMs: number): Attempted => ({
  result: resultOf(response),
  error: undefined,
  body: response.body,
  startedAtMs,
  durationMs
})

const notAnswered = (error: EgressError, startedAtMs: number, durationMs: number): Attempted => ({
  result: errorResult(error),
  error,
  body: noBody,
  startedAtMs,
  durationMs
})
