/**
 * A call to a model, from its first byte to its end, in this order: read and check, price and pay (a free model:
 * count), fetch the images it names, call a provider, settle, answer. A failure before any content has been sent first
 * releases the payment and is then reported.
 *
 * A stream's payment moves to `serving` before the first event and is settled after the last. A provider that fails in
 * between costs the caller nothing; an event in the caller's own dialect reports the failure. Comments fill pauses.
 */
import { Array as Arr, Cause, Clock, Effect, Pull, Result, Stream } from "effect"
import { eventsAnswer, HttpCall, jsonEvent, type ServerSentEvent, writtenJsonAnswer } from "#http"
import { Configuration } from "#configuration"
import { type CounterOf, Metrics } from "#runtime"
import { inputTokensOf, outputTokensHeaders } from "#payments"
import { callForms } from "./answers/call-forms.ts"
import { type AnswerShape, streamTranslator, wholeAnswer } from "./answers/translation.ts"
import { type CallFailure, codeOf, plainRoute } from "./answer-refusal.ts"
import { fault, faultBody, GatewayFault } from "./errors/GatewayFault.ts"
import { knownKey } from "./conversation/known-keys.ts"
import { firstByteSeconds, gatewayRequests, keysLeftOut, tokensServed } from "./metrics.ts"
import { FreeTier } from "./models/FreeTier.ts"
import { costCounter, type ModelRoute } from "./models/ModelRegistry.ts"
import { PaymentGate } from "./payments/PaymentGate.ts"
import { freeCall, type PaidCall, scopedCall, type SettledCall, withinPayment } from "./payments/paid-call.ts"
import { noUsage, type Used } from "./payments/charge.ts"
import { payable } from "./payments/quote.ts"
import { pricedRoute } from "./priced-route.ts"
import { FileFetcher } from "./requests/FileFetcher.ts"
import type { ApiDialect } from "./conversation/Conversation.ts"
import { writtenFor } from "./requests/dialects.ts"
import { type ModelCall, modelCallReader } from "./requests/read-call.ts"
import { type JsonObject, recordAt } from "./translate/json.ts"
import { providerApis, type StreamFacts } from "./translate/provider-apis.ts"
import { leftOutHeaders } from "./translate/provider-keys.ts"
import type { Usage } from "./translate/usage.ts"
import { writtenBytes } from "./translate/written-bytes.ts"
import type { StreamedAnswer } from "./upstream/Providers.ts"
import { type UpstreamOrder, Upstreams } from "./upstream/Upstreams.ts"

const utf8 = new TextEncoder()

export const answerModel = (dialect: ApiDialect) =>
  pricedRoute({ dialect, read: modelCallReader(dialect), answer: answerCall })

const answerCall = Effect.fnUntraced(function* (call: ModelCall, startedAtMs: number) {
  const payment = yield* paymentOf(call)
  const fetched = yield* (yield* FileFetcher).fetch(call.named).pipe(Effect.tapError(() => payment.release))
  const { dialect } = call
  const write = writtenFor(call.conversation, { outputTokens: call.outputTokens.effective, fetched })
  const work: Work = {
    call,
    payment,
    startedAtMs,
    order: {
      model: call.model,
      path: "chat",
      headers: call.headers,
      bodyFor: (route) => Result.map(write(route), ({ body }) => body)
    },
    shape: {
      dialect,
      model: call.model.entry.Id,
      request: call.request,
      includesUsage: call.includesUsage,
      inputTokens: inputTokensOf(call.prompt),
      calls: callForms(call.conversation),
      nowSeconds: Math.floor(startedAtMs / 1_000)
    },
    headers: {
      ...outputTokensHeaders(call.outputTokens),
      ...leftOutHeaders(call.leftOut),
      ...(call.model.entry.Free ? { "x-free-model": "true" } : {})
    },
    count: yield* usageCounter(call)
  }
  const leftOut = (yield* Metrics).counter(keysLeftOut)
  for (const key of call.leftOut) leftOut.inc({ key: knownKey(key) })
  return yield* call.isStreamed ? streamed(work) : whole(work)
})

interface Work {
  readonly call: ModelCall
  readonly payment: PaidCall
  readonly startedAtMs: number
  readonly order: UpstreamOrder
  readonly shape: AnswerShape
  readonly headers: Readonly<Record<string, string>>
  readonly count: UsageCounter
}

/** Releases the payment before the caller learns of the failure, so that the same payment can be used again. */
const released = <A, R>({ call, payment }: Work, answer: Effect.Effect<A, GatewayFault, R>) =>
  withinPayment(
    payment,
    Effect.mapError(answer, (given) => freeFault(call, given))
  ).pipe(Effect.tapError(() => payment.release))

const streamed = Effect.fnUntraced(function* (work: Work) {
  const { count, order, ...frame } = work
  const answer = yield* released(work, (yield* Upstreams).stream(order))
  const { ModelGateway } = yield* Configuration
  const keepAliveMs = ModelGateway.KeepAliveSeconds * 1_000
  const onEnd = Effect.sync(() => count(answer.facts.usage, answer.route))
  const used = () => usedOfStream(answer.facts)
  return yield* streamAnswer({ ...frame, keepAliveMs, onEnd, used }, answer)
})

const whole = Effect.fnUntraced(function* (work: Work) {
  const { count, payment, headers, order, shape } = work
  const answer = yield* released(work, (yield* Upstreams).whole(order))
  const usage = recordAt(answer.body, "usage")
  const costMicroUsd = count(providerApis[answer.kind].usageOf(usage), answer.route)
  const body = yield* released(
    work,
    Effect.fromResult(Result.mapError(wholeAnswer(shape, answer.kind, answer.body), senseless))
  )
  const used = usedOf(Object.keys(usage).length === 0 ? undefined : providerApis[answer.kind].usageOf(usage), {
    answerBytes: writtenBytes(answer.body[providerApis[answer.kind].contentKey]),
    isComplete: true
  })
  const text = JSON.stringify(body)
  const settled = yield* payment.settle({ body: utf8.encode(text), costMicroUsd, used })
  return writtenJsonAnswer<JsonObject>(text, {
    headers: { "cache-control": "private, no-store", ...headers, ...settled.headers }
  })
})

const usedOf = (usage: Usage | undefined, measured: Pick<Used, "answerBytes" | "isComplete">): Used => ({
  inputTokens: usage?.inputTokens ?? null,
  outputTokens: usage?.outputTokens ?? null,
  ...measured
})

const usedOfStream = ({ usage, answerBytes, isFinished }: StreamFacts): Used =>
  usedOf(usage, { answerBytes, isComplete: isFinished })

/** A call is paid for before any provider is called and before anything is counted. */
const paymentOf = Effect.fnUntraced(function* (call: ModelCall) {
  if (call.model.entry.Free) {
    yield* (yield* FreeTier).takeCall(yield* HttpCall, call.model.family)
    return freeCall
  }
  const gate = yield* PaymentGate
  return yield* scopedCall(gate.pay(payable(call, yield* HttpCall)))
})

/** Counts the tokens of a complete answer and its provider's cost; returns the cost. */
type UsageCounter = (usage: Usage | undefined, route: ModelRoute) => bigint | null

export const usageCounter = Effect.fnUntraced(function* ({ model }: Pick<ModelCall, "model">) {
  const metrics = yield* Metrics
  const tokens = metrics.counter(tokensServed)
  const countCost = yield* costCounter
  const count: UsageCounter = (usage, { cost, provider }) => {
    const microUsd = countCost({ model: model.entry.Id, provider: provider.name, cost }, { tokens: usage, count: 1 })
    if (usage === undefined) return microUsd
    tokens.inc({ model: model.entry.Id, kind: "input" }, usage.inputTokens)
    tokens.inc({ model: model.entry.Id, kind: "cached" }, usage.cachedTokens)
    tokens.inc({ model: model.entry.Id, kind: "output" }, usage.outputTokens)
    return microUsd
  }
  return count
})

interface StreamFrame {
  readonly call: ModelCall
  readonly shape: AnswerShape
  readonly payment: PaidCall
  readonly headers: Readonly<Record<string, string>>
  readonly startedAtMs: number
  readonly keepAliveMs: number
  /** Runs when the complete answer is known; returns its provider's cost. */
  readonly onEnd: Effect.Effect<bigint | null>
  /** The usage including everything that the provider has sent. */
  readonly used: () => Used
}

const streamAnswer = Effect.fnUntraced(function* (frame: StreamFrame, upstream: StreamedAnswer) {
  const { call, payment } = frame
  const metrics = yield* Metrics
  const route = plainRoute((yield* HttpCall).route)
  const firstByte = metrics.histogram(firstByteSeconds)
  const counter = metrics.counter(gatewayRequests)
  const translator = streamTranslator(frame.shape, upstream.kind)
  const state: StreamProgress = { stage: "events", isBegun: false, usedAtCut: undefined }
  let before = noUsage
  const made = (events: ReadonlyArray<JsonObject>) => {
    const failure = translator.failure()
    return failure === undefined ? Effect.succeed(events) : Effect.fail(freeFault(call, senseless(failure)))
  }

  const begin = Effect.andThen(
    payment.serve,
    Effect.map(Clock.currentTimeMillis, (nowMs) => firstByte.observe({ route }, (nowMs - frame.startedAtMs) / 1_000))
  )
  const pulled = Pull.matchEffect(upstream.next, {
    onSuccess: (events) =>
      Effect.suspend(() => {
        if (payment.measure(frame.used())) return made(events.flatMap(translator.push))
        // The payer has signed for no more: the answer ends like one that reached its maximum length.
        state.stage = "ending"
        state.usedAtCut = before
        return Effect.succeed(translator.cut())
      }).pipe(Effect.tap(() => Effect.sync(() => void (before = frame.used())))),
    onFailure: (cause) => Effect.failCause(Cause.map(cause, (error) => freeFault(call, error.fault))),
    onDone: () =>
      Effect.suspend(() => made(translator.end())).pipe(
        Effect.tap(() => Effect.sync(() => void (state.stage = "ending")))
      )
  })
  const next = nextEvents(frame, state, pulled, begin).pipe(
    // The payment is released before the error is sent: the caller can use it again at once.
    Effect.tapError((error) => (Cause.isDone(error) ? Effect.void : payment.release))
  )
  const events = Stream.fromPull(Effect.succeed(next))
  return yield* eventsAnswer(events, {
    headers: frame.headers,
    heartbeat: frame.keepAliveMs,
    onFailure: (cause) => lastEvent(call, route, counter, Cause.squash(cause))
  })
})

/** How far a stream has progressed. */
interface StreamProgress {
  stage: "events" | "ending" | "over"
  isBegun: boolean
  /** The usage when the stream was ended at the maximum that the payer has signed. */
  usedAtCut: Used | undefined
}

const nextEvents = Effect.fnUntraced(function* (
  frame: StreamFrame,
  state: StreamProgress,
  pulled: Effect.Effect<ReadonlyArray<JsonObject>, CallFailure>,
  begin: Effect.Effect<void, CallFailure>
): Effect.fn.Return<Arr.NonEmptyReadonlyArray<ServerSentEvent>, CallFailure | Cause.Done> {
  while (state.stage === "events") {
    const made = yield* pulled
    if (made.length > 0 && !state.isBegun) {
      state.isBegun = true
      yield* begin
    }
    const events = made.map((event) => dialectEvent(frame.call.dialect, event))
    if (Arr.isReadonlyArrayNonEmpty(events)) return events
  }
  const last = state.stage === "over" ? [] : yield* ending(frame, state)
  state.stage = "over"
  return Arr.isReadonlyArrayNonEmpty(last) ? last : yield* Cause.done()
})

const dialectEvent = (dialect: ModelCall["dialect"], event: JsonObject): ServerSentEvent =>
  dialect === "chat"
    ? jsonEvent(event)
    : jsonEvent(event, typeof event["type"] === "string" ? event["type"] : undefined)

const ending = Effect.fnUntraced(function* ({ call, payment, onEnd, used }: StreamFrame, state: StreamProgress) {
  const costMicroUsd = yield* onEnd
  // The complete answer has been sent: a payment that fails now concerns the payment gate, not the caller.
  const { headers } = yield* Effect.orElseSucceed(
    payment.settle({ body: null, costMicroUsd, used: state.usedAtCut ?? used() }),
    (): SettledCall => ({
      headers: {}
    })
  )
  const receipt = headers["payment-response"]
  const events = receipt === undefined ? [] : [{ data: "", comment: `payment-response ${receipt}` }]
  return call.dialect === "chat" ? [...events, { data: "[DONE]" }] : events
})

/** For an answer that no dialect can express. */
const senseless = (reason: string): GatewayFault => fault("INTERNAL_ERROR", { debug: reason })

/** A free model's failure that comes from its capacity gets a code of its own. */
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

/** Once the headers are sent, only an event can report a failure. */
const lastEvent = (
  { dialect }: ModelCall,
  route: string,
  counter: CounterOf<typeof gatewayRequests>,
  error: unknown
): ServerSentEvent => {
  const known = error instanceof GatewayFault ? error : fault("INTERNAL_ERROR")
  counter.inc({ route, status: "stream", code: error instanceof GatewayFault ? codeOf(error) : "INTERNAL_ERROR" })
  if (dialect === "messages") return jsonEvent(faultBody("messages", known), "error")
  if (dialect === "chat") return jsonEvent(faultBody("chat", known))
  const { code, message, param = null } = known
  return jsonEvent({ type: "error", code, message, param, error: { message, code, param } }, "error")
}
