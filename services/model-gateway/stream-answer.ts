/**
 * A streamed answer from its first event to its end. The payment is served before the first event and settled
 * after the last; a provider that fails in between costs the caller nothing, and the caller is told by an event
 * in the shape of the route. Silence is filled with comments.
 */
import { Array as Arr, Cause, Clock, Effect, Pull, Stream } from "effect"
import { type CounterHandle, Metrics } from "#runtime"
import { eventsAnswer, HttpCall, jsonEvent, type ServerSentEvent } from "#http"
import { type CallFailure, codeOf, plainRoute } from "./answer-refusal.ts"
import { fault, GatewayFault, faultBody } from "./errors/GatewayFault.ts"
import { firstByteSeconds, gatewayRequests } from "./metrics.ts"
import type { PaidCall, SettledCall } from "./payments/paid-call.ts"
import type { ModelCall } from "./requests/read-call.ts"
import { streamTranslator, type Wanted } from "./translate/translation.ts"
import type { JsonObject } from "./translate/json.ts"
import type { StreamedAnswer } from "./upstream/Providers.ts"

export interface StreamFrame {
  readonly call: ModelCall
  readonly wanted: Wanted
  readonly payment: PaidCall
  readonly headers: Readonly<Record<string, string>>
  readonly startedAtMs: number
  readonly keepAliveMs: number
  /** When the whole answer is known. */
  readonly onEnd: Effect.Effect<void>
}

export const streamAnswer = Effect.fnUntraced(function* (frame: StreamFrame, upstream: StreamedAnswer) {
  const { call, payment } = frame
  const metrics = yield* Metrics
  const route = plainRoute((yield* HttpCall).route)
  const firstByte = metrics.histogram(firstByteSeconds)
  const counter = metrics.counter(gatewayRequests)
  const translator = streamTranslator(frame.wanted, upstream.kind)
  const state: Told = { stage: "events", isBegun: false }

  const begin = Effect.andThen(
    payment.serve,
    Effect.map(Clock.currentTimeMillis, (nowMs) => firstByte.observe({ route }, (nowMs - frame.startedAtMs) / 1_000))
  )
  const pulled = Pull.matchEffect(upstream.next, {
    onSuccess: (events) => Effect.succeed(events.flatMap(translator.push)),
    onFailure: (cause) => Effect.failCause(Cause.map(cause, (error) => freeFault(call, error.fault))),
    onDone: () =>
      Effect.sync(() => {
        state.stage = "ending"
        return translator.end()
      })
  })
  const next = nextEvents(frame, state, pulled, begin).pipe(
    // Before the caller hears of it: the payment can be used again at once.
    Effect.tapError((error) => (Cause.isDone(error) ? Effect.void : payment.release))
  )
  const events = Stream.fromPull(Effect.succeed(next))
  return yield* eventsAnswer(events, {
    headers: frame.headers,
    heartbeat: frame.keepAliveMs,
    onFailure: (cause) => lastEvent(call, route, counter, Cause.squash(cause))
  })
})

/** How much the caller was told. */
interface Told {
  stage: "events" | "ending" | "over"
  isBegun: boolean
}

const nextEvents = Effect.fnUntraced(function* (
  frame: StreamFrame,
  state: Told,
  pulled: Effect.Effect<ReadonlyArray<JsonObject>, CallFailure>,
  begin: Effect.Effect<void, CallFailure>
): Effect.fn.Return<Arr.NonEmptyReadonlyArray<ServerSentEvent>, CallFailure | Cause.Done> {
  while (state.stage === "events") {
    const made = yield* pulled
    if (made.length > 0 && !state.isBegun) {
      state.isBegun = true
      yield* begin
    }
    const told = made.map((event) => dialectEvent(frame.call.dialect, event))
    if (Arr.isReadonlyArrayNonEmpty(told)) return told
  }
  const told = state.stage === "over" ? [] : yield* ending(frame)
  state.stage = "over"
  return Arr.isReadonlyArrayNonEmpty(told) ? told : yield* Cause.done()
})

const dialectEvent = (dialect: ModelCall["dialect"], event: JsonObject): ServerSentEvent =>
  dialect === "chat"
    ? jsonEvent(event)
    : jsonEvent(event, typeof event["type"] === "string" ? event["type"] : undefined)

const ending = Effect.fnUntraced(function* ({ call, payment, onEnd }: StreamFrame) {
  yield* onEnd
  // All has been given out: a payment that fails now is the payment gate's to remember, not the caller's to see.
  const { headers } = yield* Effect.orElseSucceed(payment.settle(null), (): SettledCall => ({ headers: {} }))
  const receipt = headers["payment-response"]
  const told = receipt === undefined ? [] : [{ data: "", comment: `payment-response ${receipt}` }]
  return call.dialect === "chat" ? [...told, { data: "[DONE]" }] : told
})

/** What a free model cannot do is a matter of its capacity. */
export const freeFault = (call: Pick<ModelCall, "model" | "isStreamed">, given: GatewayFault): GatewayFault => {
  const isOfCapacity =
    given.code === "RATE_LIMITED" || given.code === "MODEL_UNAVAILABLE" || given.code === "INTERNAL_ERROR"
  if (!call.model.entry.Free || !isOfCapacity) return given
  return fault(call.isStreamed ? "STREAM_FAILED" : "FREE_MODEL_FAILED", {
    debug: given.debug,
    source: call.model.family,
    retryAfterSeconds: freeRetrySeconds
  })
}

const freeRetrySeconds = 30

/** After the headers only an event can tell. */
const lastEvent = (
  { dialect }: ModelCall,
  route: string,
  counter: CounterHandle<"route" | "status" | "code">,
  error: unknown
): ServerSentEvent => {
  const known = error instanceof GatewayFault ? error : fault("INTERNAL_ERROR")
  counter.inc({ route, status: "stream", code: error instanceof GatewayFault ? codeOf(error) : "INTERNAL_ERROR" })
  if (dialect === "messages") return jsonEvent(faultBody("messages", known), "error")
  if (dialect === "chat") return jsonEvent(faultBody("chat", known))
  const { code, message, param = null } = known
  return jsonEvent({ type: "error", code, message, param, error: { message, code, param } }, "error")
}
