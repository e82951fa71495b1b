/**
 * A call to a model, from its first byte to its end, in this order: read and check, price and pay (or count
 * it, where it is free), fetch its images, ask a provider, settle, answer. What fails before content has been
 * given out releases the payment before it is told.
 */
import { Clock, Effect } from "effect"
import { Admission, HttpCall, jsonAnswer } from "#http"
import { Configuration, Metrics } from "#runtime"
import { outputTokensHeaders } from "#x402"
import { answering } from "./answer-refusal.ts"
import type { GatewayFault } from "./errors/GatewayFault.ts"
import { ImageFetcher } from "./images/ImageFetcher.ts"
import { tokensServed } from "./metrics.ts"
import { freeCall, type PaidCall, scopedCall, withinPayment } from "./payments/paid-call.ts"
import { payable } from "./payable.ts"
import { bodyFor, type ApiDialect } from "./requests/dialects.ts"
import { FreeTier } from "./models/FreeTier.ts"
import { type ModelCall, readCall } from "./requests/read-call.ts"
import { freeFault, streamAnswer } from "./stream-answer.ts"
import { PaymentGate } from "./payments/PaymentGate.ts"
import { type Wanted, wholeAnswer } from "./translate/translation.ts"
import { anthropicUsage, openAiUsage, type Usage } from "./translate/stop-reasons.ts"
import { type JsonObject, recordAt } from "./translate/json.ts"
import { type UpstreamOrder, Upstreams } from "./upstream/Upstreams.ts"
const utf8 = new TextEncoder()

export const answerModel = (dialect: ApiDialect) =>
  answering(dialect)(
    Effect.gen(function* () {
      const startedAtMs = yield* Clock.currentTimeMillis
      // Who pays is not known yet: places are held for all callers together.
      yield* (yield* Admission).enter("callers")
      const call = yield* readCall(dialect)
      const payment = yield* paymentOf(call)
      const filled = yield* (yield* ImageFetcher).fill(call).pipe(Effect.tapError(() => payment.release))
      const work: Work = {
        call,
        payment,
        startedAtMs,
        order: {
          model: call.model,
          path: "chat",
          headers: call.headers,
          bodyFor: bodyFor(dialect, filled, call.outputTokens.effective)
        },
        wanted: {
          dialect,
          model: call.model.entry.Id,
          request: call.request,
          includesUsage: call.includesUsage,
          nowSeconds: Math.floor(startedAtMs / 1_000)
        },
        headers: {
          ...outputTokensHeaders(call.outputTokens),
          ...(call.model.entry.Free ? { "x-free-model": "true" } : {})
        },
        count: yield* tokenCounter(call)
      }
      return yield* call.isStreamed ? streamed(work) : whole(work)
    })
  )

interface Work {
  readonly call: ModelCall
  readonly payment: PaidCall
  readonly startedAtMs: number
  readonly order: UpstreamOrder
  readonly wanted: Wanted
  readonly headers: Readonly<Record<string, string>>
  readonly count: (usage: Usage | undefined) => void
}

/** The payment can be used again before the caller hears why. */
const released = <A, R>({ call, payment }: Work, answer: Effect.Effect<A, GatewayFault, R>) =>
  withinPayment(payment, answer).pipe(
    Effect.mapError((given) => freeFault(call, given)),
    Effect.tapError(() => payment.release)
  )

const streamed = Effect.fnUntraced(function* (work: Work) {
  const { count, order, ...frame } = work
  const answer = yield* released(work, (yield* Upstreams).stream(order))
  const { ModelGateway } = yield* Configuration
  const keepAliveMs = ModelGateway.KeepAliveSeconds * 1_000
  const onEnd = Effect.sync(() => count(answer.facts.usage))
  return yield* streamAnswer({ ...frame, keepAliveMs, onEnd }, answer)
})

const whole = Effect.fnUntraced(function* (work: Work) {
  const { count, payment, headers, order, wanted } = work
  const answer = yield* released(work, (yield* Upstreams).whole(order))
  const usage = recordAt(answer.body, "usage")
  count(answer.kind === "anthropic" ? anthropicUsage(usage) : openAiUsage(usage))
  const body: JsonObject = wholeAnswer(wanted, answer.kind, answer.body)
  const settled = yield* payment.settle(utf8.encode(JSON.stringify(body)))
  return jsonAnswer(body, { headers: { "cache-control": "private, no-store", ...headers, ...settled.headers } })
})

/** Paid before anybody is asked, or counted. */
const paymentOf = Effect.fnUntraced(function* (call: ModelCall) {
  if (call.model.entry.Free) {
    yield* (yield* FreeTier).takeCall(yield* HttpCall, call.model.family)
    return freeCall
  }
  const gate = yield* PaymentGate
  return yield* scopedCall(gate.pay(payable(call, yield* HttpCall)))
})

const tokenCounter = Effect.fnUntraced(function* ({ model }: ModelCall) {
  const tokens = (yield* Metrics).counter(tokensServed)
  return (usage: Usage | undefined) => {
    if (usage === undefined) return
    tokens.inc({ model: model.entry.Id, kind: "input" }, usage.inputTokens)
    tokens.inc({ model: model.entry.Id, kind: "cached" }, usage.cachedTokens)
    tokens.inc({ model: model.entry.Id, kind: "output" }, usage.outputTokens)
  }
})
