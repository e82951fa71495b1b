/**
 * A delivery attempt sends one delivery once, and stores the consequence. The order of writes makes a crash harmless:
 * the retry or the abandonment is stored first, then the message is acked. A crash in between sends once more, with the
 * same X-Service-Delivery; nothing is lost.
 *
 * While the broker is away, each write is retried until the broker is back. Meanwhile the message is kept alive; a
 * drain hands it back unfinished.
 */
import { Clock, Context, Effect, Layer, Random, Result, Schedule } from "effect"
import { ack, type AckDecision, type BusError, isLostRace, isTooLarge, nak, Publisher, scheduleHeaders } from "#bus"
import { isoTime, subjects } from "#base"
import { type EgressError, type EgressResponse, UntrustedHttp } from "#egress"
import { Configuration } from "#configuration"
import { Secrets } from "#runtime"
import { AbandonedDeliveries, removed } from "./abandoned.ts"
import { AttemptLog, attemptRecord } from "./attempt-log.ts"
import { deliveryHeaders, type DueDelivery, dueSubjectOf, EndpointStates, formatted, requestHeaders } from "#webhooks"
import { DeliveryMetrics } from "./metrics.ts"
import { DeliveryOrder } from "./order/DeliveryOrder.ts"
import { AccessTokens, type TokenUnavailable } from "./AccessTokens.ts"
import type { AccessToken, OAuthClient } from "./token-request.ts"
import type { EndpointSettings, MadeAtRunTime } from "./endpoints/settings.ts"
import { AttemptResult, decide, Decision, describe, isSuccess, type RetrySettings } from "./retry-policy.ts"

/** The result of an attempt. */
export interface Attempted {
  readonly result: AttemptResult
  readonly error: EgressError | TokenUnavailable | undefined
  /** The token that was sent, to be kept out of all that is written. */
  readonly token?: AccessToken
  readonly body: Uint8Array
  /** The answer's headers; none without an answer. */
  readonly headers: Readonly<Record<string, string>>
  /** The headers as sent. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly startedAtMs: number
  readonly durationMs: number
}

// The receiver's answer is read up to this size, for the delivery log.
const answerBytesMax = 4_096
// The broker is usually back within seconds; retrying twice a second costs nothing.
const storeAgainEvery = "500 millis"
// A refusal by the broker is our bug or a broken deployment: slow down and be loud.
const refusedDelayMs = 5_000

export class DeliveryAttempts extends Context.Service<
  DeliveryAttempts,
  {
    /** Sends once. */
    readonly attempt: (endpoint: EndpointSettings, due: DueDelivery, leaving: Leaving) => Effect.Effect<Attempted>
    /** Decides and stores the consequence, and returns how to ack the message. */
    readonly conclude: (
      endpoint: EndpointSettings,
      due: DueDelivery,
      attempted: Attempted
    ) => Effect.Effect<AckDecision>
    /** Puts a delivery off until a moment (epoch ms) without counting an attempt. */
    readonly postpone: (due: DueDelivery, untilMs: number) => Effect.Effect<AckDecision>
    /** Archives a delivery of a removed endpoint, found where another endpoint has its name. */
    readonly archive: (due: DueDelivery, name: string) => Effect.Effect<AckDecision>
  }
>()("starling/webhook-dispatcher/DeliveryAttempts") {
  static readonly layer = Layer.effect(
    DeliveryAttempts,
    Effect.gen(function* () {
      const deps = yield* dependencies
      return DeliveryAttempts.of({
        attempt: (endpoint, due, leaving) => {
          const sending = { endpoint, due, leaving }
          return endpoint.oauth === undefined ? attempt(deps, sending) : authorized(deps, sending, endpoint.oauth)
        },
        conclude: (endpoint, due, sent) => conclude(deps, { endpoint, due, sent }),
        postpone: (due, untilMs) => postpone(deps, due, untilMs),
        archive: (due, name) => stored(deps.abandoned.ownerless(due, name, removed))
      })
    })
  )
}

/** Handed on: to provide them takes 5 µs a call, and a delivery takes 190 µs in all. */
interface Dependencies extends Effect.Success<typeof dependencies> {}

const dependencies = Effect.gen(function* () {
  return {
    receivers: yield* openReceivers,
    source: (yield* Configuration).Events.Source,
    publisher: yield* Publisher,
    abandoned: yield* AbandonedDeliveries,
    log: yield* AttemptLog,
    states: yield* EndpointStates,
    order: yield* DeliveryOrder,
    metrics: yield* DeliveryMetrics,
    tokens: yield* AccessTokens,
    redact: (yield* Secrets).redact,
    clock: yield* Clock.Clock,
    randomness: yield* Random.Random
  }
})

/** The moment before the bytes leave for the receiver. */
export interface Leaving {
  /** On false nothing is sent. */
  readonly mayLeave: () => boolean
  readonly onLeave: () => void
}

interface Sending {
  readonly endpoint: EndpointSettings
  readonly due: DueDelivery
  readonly leaving: Leaving
}

/**
 * Sends once with a token. The time for it is not the attempt's; without one, the attempt has failed as when the
 * receiver is away. A receiver that refuses it gets the same attempt once more, with the next one.
 */
const authorized = Effect.fnUntraced(function* (deps: Dependencies, sending: Sending, client: OAuthClient) {
  const { tokens, clock } = deps
  const { endpoint } = sending
  const startedAtMs = clock.currentTimeMillisUnsafe()
  const token = yield* Effect.result(tokens.current(endpoint, client))
  if (Result.isFailure(token)) {
    const durationMs = clock.currentTimeMillisUnsafe() - startedAtMs
    return notAnswered(token.failure, { requestHeaders: {}, startedAtMs, durationMs })
  }
  const first = yield* attempt(deps, sending, token.success)
  if (first.result._tag !== "Answered" || first.result.status !== 401) return first
  const next = yield* Effect.result(tokens.afterRefusal(endpoint, client, token.success))
  if (Result.isFailure(next) || next.success === undefined) return first
  const { mayLeave } = sending.leaving
  return yield* attempt(deps, { ...sending, leaving: { mayLeave, onLeave: () => {} } }, next.success)
})

const attempt = (
  { receivers, source, clock, order }: Dependencies,
  { endpoint, due, leaving }: Sending,
  token?: AccessToken
): Effect.Effect<Attempted> => {
  const startedAtMs = clock.currentTimeMillisUnsafe()
  const gap = order.gapOf(due.delivery)
  const outgoing = formatted(gap === undefined ? due : { ...due, gap }, { format: endpoint.format, source })
  const unauthorized = requestHeaders(endpoint, outgoing, startedAtMs)
  const headers = token === undefined ? unauthorized : { ...unauthorized, Authorization: `Bearer ${token.token}` }
  const request = receivers.request({
    method: "POST",
    url: endpoint.url,
    lane: endpoint.id,
    connectionsMax: endpoint.concurrency,
    via: endpoint.connection?.current,
    headers,
    body: outgoing.body,
    deadlineMs: endpoint.timeoutMs,
    responseBytesMax: answerBytesMax,
    // Its X-Service-Delivery identifies it.
    isRepeatable: true,
    isHeadEnough: true,
    mayLeave: leaving.mayLeave,
    onLeave: leaving.onLeave
  })
  const made = () => ({
    ...(token === undefined ? {} : { token }),
    requestHeaders: headers,
    startedAtMs,
    durationMs: clock.currentTimeMillisUnsafe() - startedAtMs
  })
  return Effect.match(request, {
    onSuccess: (response) => answered(response, made()),
    onFailure: (error) => notAnswered(error, made())
  })
}

type Made = Pick<Attempted, "token" | "requestHeaders" | "startedAtMs" | "durationMs">

const answered = (response: EgressResponse, made: Made): Attempted => ({
  result: AttemptResult.Answered({ status: response.status, retryAfter: response.headers["retry-after"] }),
  error: undefined,
  body: response.body,
  headers: response.headers,
  ...made
})

const errorCharactersMax = 500
const noBody = new Uint8Array(0)

const notAnswered = (error: EgressError | TokenUnavailable, made: Made): Attempted => ({
  result: AttemptResult.NotAnswered({ error: `${error._tag}: ${error.message}`.slice(0, errorCharactersMax) }),
  error,
  body: noBody,
  headers: {},
  ...made
})

interface SentDelivery {
  readonly endpoint: EndpointSettings
  readonly due: DueDelivery
  readonly sent: Attempted
}

const delivered = Effect.succeed(ack)
// A test's failure is in the delivery log, which is all that its sender waits for.
const triedOnce: RetrySettings = { waitsMs: [], jitter: 0, retryAfterMsMax: 0 }

const conclude = (deps: Dependencies, delivery: SentDelivery): Effect.Effect<AckDecision> => {
  const { clock, randomness, metrics, log, redact } = deps
  const { endpoint, due, sent } = delivery
  const nowMs = clock.currentTimeMillisUnsafe()
  const random = randomness.nextDoubleUnsafe()
  const isTest = due.delivery.isTest === true
  const settings = isTest ? triedOnce : endpoint.retry
  const decision = decide(sent.result, { attempt: due.delivery.attempt, settings, nowMs, random })
  if (isTest) metrics.tested(endpoint, decision._tag === "Delivered" ? "delivered" : "failed")
  else metrics.attempted({ endpoint, delivery: due.delivery, sent, decision, nowMs })
  const known = endpoint.madeAtRunTime === null ? redact : redactFor(redact, endpoint.madeAtRunTime)
  const { token } = sent
  const hide = token === undefined ? known : (text: string) => known(text.replaceAll(token.token, "<redacted>"))
  log.add(
    endpoint.id,
    attemptRecord(due.delivery, endpoint.name, {
      ...sent,
      ...shownHeaders(delivery),
      format: endpoint.format,
      decision,
      redact: hide
    })
  )
  const isDone = isTest || decision._tag === "Delivered"
  if (due.delivery.key !== undefined) {
    const done = isDone ? Effect.succeed(decision) : store(deps, delivery, decision)
    return stored(Effect.flatMap(done, (followed) => deps.order.settle(due.delivery, followed)))
  }
  return isDone ? delivered : stored(store(deps, delivery, decision))
}

const configured = "[configured]"

/** The headers as sent. The receiver's own can be keys of its gateway, so only their names are shown. */
const shownHeaders = ({ endpoint, sent }: SentDelivery) => {
  const isDelivered = sent.result._tag === "Answered" && isSuccess(sent.result.status)
  // For a successful delivery none are kept.
  if (isDelivered) return { requestHeaders: {} }
  const names = [...Object.keys(endpoint.headers ?? {}), ...(sent.token === undefined ? [] : ["Authorization"])]
  const own = names.map((name) => [name, configured] as const)
  return { requestHeaders: { ...sent.requestHeaders, ...Object.fromEntries(own) } }
}

/** Also hides the endpoint's own secrets, but no others': searching for those of all endpoints would take too long. */
const redactFor = (redact: (text: string) => string, own: MadeAtRunTime) => (text: string) => redact(own.redact(text))

/** Stores the consequence of an attempt that did not deliver, and returns the decision that was carried out. */
const store = (
  deps: Dependencies,
  delivery: SentDelivery,
  decision: Exclude<Decision, { readonly _tag: "Delivered" }>
): Effect.Effect<Decision, BusError> => {
  const { endpoint } = delivery
  switch (decision._tag) {
    case "Retry":
      return retry(deps, delivery, decision.dueAtMs).pipe(
        Effect.as(decision),
        Effect.catchIf(isTooLarge, ({ detail }) => {
          const reason = `its retry cannot be stored: ${detail}`
          return Effect.as(abandon(deps, delivery, reason), Decision.GiveUp({ reason }))
        })
      )
    case "GiveUp":
      return Effect.as(abandon(deps, delivery, decision.reason), decision)
    case "Gone":
      return abandon(deps, delivery, "410 Gone").pipe(
        Effect.andThen(
          deps.states.pause(endpoint.id, endpoint.name, {
            by: "webhook-dispatcher",
            reason: "the receiver answered 410"
          })
        ),
        Effect.andThen(Effect.logError("an endpoint answered 410 Gone and is now paused; resume it when it is back")),
        Effect.annotateLogs({ endpoint: endpoint.name }),
        Effect.as(decision)
      )
  }
}

const retry = (deps: Dependencies, { due, sent }: SentDelivery, dueAtMs: number) => {
  const previousEndedAt = sent.startedAtMs + Math.round(sent.durationMs)
  const next = { ...due.delivery, attempt: due.delivery.attempt + 1, dueAt: dueAtMs, previousEndedAt }
  return schedule(deps, { ...due, delivery: next }, `${next.deliveryId}:${next.attempt}`)
}

const schedule = ({ publisher }: Dependencies, due: DueDelivery, messageId: string) =>
  publisher.publishRaw(
    subjects.deliveries(due.lane ?? 0).wait(due.delivery.endpointId, due.delivery.deliveryId),
    due.body,
    {
      messageId,
      headers: [...deliveryHeaders(due.delivery), ...scheduleHeaders(due.delivery.dueAt, dueSubjectOf(due))]
    }
  )

const abandon = Effect.fnUntraced(function* (
  { abandoned }: Dependencies,
  { endpoint, due, sent }: SentDelivery,
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
  yield* abandoned.delivery(due, abandonment)
  yield* Effect.logWarning("a delivery is abandoned").pipe(
    Effect.annotateLogs({ ...abandonment, event: due.delivery.event, delivery: due.delivery.deliveryId })
  )
})

const postpone = (deps: Dependencies, due: DueDelivery, untilMs: number): Effect.Effect<AckDecision> => {
  const postponed = { ...due.delivery, dueAt: Math.round(untilMs) }
  const messageId = `${postponed.deliveryId}:${postponed.attempt}:${postponed.dueAt}`
  return stored(schedule(deps, { ...due, delivery: postponed }, messageId))
}

/** Retries the write until the broker stores it, then acks. */
const stored = (write: Effect.Effect<unknown, BusError>): Effect.Effect<AckDecision> =>
  write.pipe(
    Effect.retry({
      schedule: Schedule.spaced(storeAgainEvery),
      while: (error) => error._tag === "BusUnavailable" || isLostRace(error)
    }),
    Effect.as(ack),
    Effect.catch((error) =>
      Effect.logError("the broker refused to store what follows from an attempt", error).pipe(
        Effect.as(nak(refusedDelayMs))
      )
    )
  )

// A receiver that does not accept a connection in five seconds will not answer in ten.
const connectTimeoutMsMax = 5_000
// A kept pool of connections costs about 30 kB. Beyond this many endpoints, the least recently used reconnect.
const lanesMax = 4_096

/** One guarded client for all receivers. An endpoint never has more sockets than deliveries in work. */
const openReceivers = Effect.gen(function* () {
  const { WebhookDelivery } = yield* Configuration
  if (WebhookDelivery.AllowCidrs.length > 0) {
    yield* Effect.logWarning("webhooks may be sent to private networks").pipe(
      Effect.annotateLogs({ allowCidrs: WebhookDelivery.AllowCidrs })
    )
  }
  return yield* (yield* UntrustedHttp).open({
    use: "webhooks",
    allowCidrs: WebhookDelivery.AllowCidrs,
    proxyAllowCidrs: WebhookDelivery.ProxyAllowCidrs,
    connectionsPerLaneMax: 1,
    lanesMax,
    connectTimeoutMs: connectTimeoutMsMax
  })
})
