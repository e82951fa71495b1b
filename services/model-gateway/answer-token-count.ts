/**
 * How many tokens a conversation in Anthropic's shape has, for callers that plan before they pay. A provider with
 * Anthropic's API does its own count. For every other model the answer is the estimate by which its calls are priced. A
 * count is free and limited by address, unless its model has a price for it: then it is quoted and paid like any call,
 * and nothing is charged if the counting provider does not answer.
 */
import { Duration, Effect, Result } from "effect"
import { Admission, HttpCall, jsonAnswer } from "#http"
import { Configuration } from "#configuration"
import { inputTokensOf } from "#payments"
import { answering } from "./answer-refusal.ts"
import { fault } from "./errors/GatewayFault.ts"
import { FreeTier } from "./models/FreeTier.ts"
import { type ModelRoute, ModelRegistry } from "./models/ModelRegistry.ts"
import { PaymentGate } from "./payments/PaymentGate.ts"
import { scopedCall, withinPayment } from "./payments/paid-call.ts"
import { countPricesOf, type PayableCall, payable } from "./payments/quote.ts"
import { type ModelCall, modelCallReader, readBody } from "./requests/read-call.ts"
import { placeholderOf, writtenFor } from "./requests/dialects.ts"
import { numberAt } from "./translate/json.ts"
import { allowedRequest, anthropicCountKeys, leftOutHeaders } from "./translate/provider-keys.ts"
import { Providers } from "./upstream/Providers.ts"

// A caller counts before it calls: a slower provider is not waited for, and the estimate is the answer.
const countWithin = Duration.seconds(10)

const utf8 = new TextEncoder()
const readCountedCall = modelCallReader("messages", "count")

export const answerTokenCount = answering("messages")(
  Effect.gen(function* () {
    yield* (yield* Admission).enter("callers")
    const { all, find } = yield* ModelRegistry
    const http = yield* HttpCall
    const limited = (yield* FreeTier).takeCount(http)
    // Only the model determines whether a count is sold, and so the body must be read first.
    const isAnySold = all.some((model) => countPricesOf(model) !== undefined)
    if (!isAnySold) yield* limited
    const reading = Effect.flatMap(readBody, (body) => Effect.fromResult(readCountedCall(body, { find, http })))
    const read = yield* Effect.result(reading)
    const prices = Result.isSuccess(read) ? countPricesOf(read.success.model) : undefined
    if (isAnySold && prices === undefined) yield* limited
    const call = yield* Effect.fromResult(read)
    return yield* prices === undefined ? freeCount(call) : paidCount(call, prices)
  })
)

const freeCount = Effect.fnUntraced(function* (call: ModelCall) {
  const counted = yield* countedByProvider(call, true)
  return jsonAnswer(countOf(call, counted), { headers: { "cache-control": "no-store", ...countedBy(call, counted) } })
})

const paidCount = Effect.fnUntraced(function* (call: ModelCall, prices: PayableCall["prices"]) {
  const sold: PayableCall = { ...payable(call, yield* HttpCall), prices, outputTokens: 0, kind: "whole" }
  const payment = yield* scopedCall((yield* PaymentGate).pay(sold))
  const counted = yield* withinPayment(payment, countedByProvider(call, false)).pipe(
    Effect.tapError(() => payment.release)
  )
  const body = countOf(call, counted)
  const used = { inputTokens: null, outputTokens: null, answerBytes: 0, isComplete: true }
  const settled = yield* payment.settle({ body: utf8.encode(JSON.stringify(body)), costMicroUsd: null, used })
  return jsonAnswer(body, {
    headers: { "cache-control": "private, no-store", ...countedBy(call, counted), ...settled.headers }
  })
})

const countOf = ({ prompt }: ModelCall, counted: number | undefined) => ({
  input_tokens: counted ?? inputTokensOf(prompt)
})
const countedBy = ({ leftOut }: ModelCall, counted: number | undefined) => ({
  ...leftOutHeaders(leftOut),
  "x-token-count": counted === undefined ? "estimate" : "provider"
})

/**
 * Undefined if no provider counts: then the estimate is the answer. It also replaces the count of a provider that
 * fails, if `isEstimateEnough`.
 */
const countedByProvider = Effect.fnUntraced(function* (call: ModelCall, isEstimateEnough: boolean) {
  const route = countingRoute(call)
  if (route === undefined) return undefined
  const { conversation, outputTokens } = call
  const written = writtenFor(conversation, { outputTokens: outputTokens.effective, fetched: placeholderOf })(route)
  if (Result.isFailure(written)) return undefined
  const { ModelGateway } = yield* Configuration
  // Not through Upstreams: the outcome of counts must not decide whether paid calls reach this provider.
  const asked = (yield* Providers).whole({
    route,
    path: "count",
    body: allowedRequest(anthropicCountKeys, written.success.body).body,
    headers: call.headers,
    family: call.model.family
  })
  const withinMs = Math.min(Duration.toMillis(countWithin), ModelGateway.FirstByteSeconds * 1_000)
  const answer = yield* Effect.result(Effect.timeoutOption(asked, withinMs))
  if (Result.isFailure(answer)) {
    const { failure } = answer
    return isEstimateEnough && (failure.isProviders || failure.isWorthAnother) ? undefined : yield* failure.fault
  }
  if (answer.success._tag === "Some") return tokensOf(answer.success.value)
  return isEstimateEnough ? undefined : yield* fault("TIMEOUT")
})

const tokensOf = (body: Parameters<typeof numberAt>[0]) => numberAt(body, "input_tokens")

/**
 * Files that are only named are fetched for paid calls only, and no provider receives an address: such conversations
 * are estimated.
 */
const countingRoute = ({ model, named }: ModelCall): ModelRoute | undefined =>
  named.length > 0 ? undefined : model.routes.find(({ provider }) => provider.kind === "anthropic")
