/**
 * Texts as vectors, in OpenAI's shape: read and check, price and pay (a free model: count), call a provider, settle,
 * answer. Under `exact` the tokens counted here are charged; under `upto` and by channel, those that the provider
 * reports.
 */
import { Effect, Result } from "effect"
import { HttpCall, jsonAnswer } from "#http"
import { freeFault, usageCounter } from "./answer-model.ts"
import { FreeTier } from "./models/FreeTier.ts"
import { freeCall, scopedCall, withinPayment } from "./payments/paid-call.ts"
import { PaymentGate } from "./payments/PaymentGate.ts"
import { type PayableCall, payableParts } from "./payments/quote.ts"
import { pricedRoute } from "./priced-route.ts"
import { embeddingAnswer, type EmbeddingCall, readEmbeddingCall } from "./requests/read-embeddings.ts"
import { noUsage, type Usage } from "./translate/usage.ts"
import { type JsonObject, numberAt, recordAt } from "./translate/json.ts"
import { leftOutHeaders } from "./translate/provider-keys.ts"
import { Upstreams } from "./upstream/Upstreams.ts"

const utf8 = new TextEncoder()

const answerCall = Effect.fnUntraced(function* (call: EmbeddingCall) {
  const { entry } = call.model
  const payment = yield* paymentOf(call)
  const order = {
    model: call.model,
    path: "embeddings",
    headers: {},
    bodyFor: () => Result.succeed(call.request)
  } as const
  const asked = Effect.mapError((yield* Upstreams).whole(order), (given) =>
    freeFault({ model: call.model, isStreamed: false }, given)
  )
  const answer = yield* withinPayment(payment, asked).pipe(Effect.tapError(() => payment.release))
  const usage = usageOf(answer.body)
  const costMicroUsd = (yield* usageCounter(call))(usage, answer.route)
  const encoding = call.request["encoding_format"] === "base64" ? "base64" : "float"
  const body = embeddingAnswer(answer.body, entry.Id, encoding)
  const used = { inputTokens: usage?.inputTokens ?? null, outputTokens: null, answerBytes: 0, isComplete: true }
  const settled = yield* payment.settle({ body: utf8.encode(JSON.stringify(body)), costMicroUsd, used })
  const headers = { ...leftOutHeaders(call.leftOut), ...(entry.Free ? { "x-free-model": "true" } : {}) }
  return jsonAnswer(body, { headers: { "cache-control": "private, no-store", ...headers, ...settled.headers } })
})

const paymentOf = Effect.fnUntraced(function* (call: EmbeddingCall) {
  const http = yield* HttpCall
  if (call.model.entry.Free) {
    yield* (yield* FreeTier).takeCall(http, call.model.family)
    return freeCall
  }
  return yield* scopedCall((yield* PaymentGate).pay(payable(call, http)))
})

const payable = (call: EmbeddingCall, http: HttpCall["Service"]): PayableCall => ({
  ...payableParts(http, call.model),
  prompt: call.prompt,
  outputTokens: 0,
  count: 1,
  body: call.bytes,
  kind: "whole",
  shape: "chat"
})

export const answerEmbeddings = pricedRoute({ dialect: "embeddings", read: readEmbeddingCall, answer: answerCall })

/** Undefined if the provider counts no tokens. Some report only the total, which is the input. */
const usageOf = (answer: JsonObject): Usage | undefined => {
  const usage = recordAt(answer, "usage")
  const inputTokens = numberAt(usage, "prompt_tokens") ?? numberAt(usage, "total_tokens")
  return inputTokens === undefined ? undefined : { ...noUsage, inputTokens }
}
