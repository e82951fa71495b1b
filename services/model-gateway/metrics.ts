/**
 * The metrics of model-gateway, in addition to those of its listener. Codes and providers are ours; no label contains a
 * caller's text.
 */
import { signedSchemes } from "#payments/contract"
import { defineCounter, defineGauge, defineHistogram } from "#runtime"
import { clientNames } from "./clients.ts"

export const gatewayRequests = defineCounter({
  name: "gateway_requests_total",
  help: "Calls by route, status and code; the code of an answer is 'ok', a stream that broke off after its headers counts again with its code.",
  labels: ["route", "status", "code"]
})
export const clientCalls = defineCounter({
  name: "gateway_client_calls_total",
  help: "Calls by the program that made them, by its User-Agent, and by how they ended: ok, quoted, refused, failed. A program that is not known is 'other'.",
  labels: ["client", "outcome"],
  values: { client: clientNames, outcome: ["ok", "quoted", "refused", "failed"] }
})
export const keysLeftOut = defineCounter({
  name: "gateway_keys_left_out_total",
  help: "Keys of requests that a model's provider was not given, of calls that went on to it. A key that is in no list of ours is 'other'.",
  labels: ["key"]
})
export const refusals = defineCounter({
  name: "gateway_refusals_total",
  help: "Calls that their callers must change, by the gateway's code and by the key of the request that is at fault: 'none' where no key is named, 'other' where it is in no list of ours. Refused by the gateway or by a provider; quotes, limits and payments are not counted.",
  labels: ["code", "key"]
})
export const upstreamCalls = defineCounter({
  name: "gateway_upstream_calls_total",
  help: "Calls to providers by how they ended: answered, refused (the caller's fault), limited, failed, broken off after the first event, cancelled; and by what the provider said: 2xx, 401 (the key; also a 400 that says so), 402 (the bill; also a 429 that says so), 403, 404, 429, 4xx, 5xx, timeout, unreachable, not allowed (by the egress), garbled, cut off, none.",
  labels: ["provider", "outcome", "status_class"]
})
export const providerFailing = defineGauge({
  name: "gateway_provider_failing",
  help: "1 while a provider fails, by the status class of its newest call to a model, or of the check that asks for its models every ten seconds in which no answer proved it (`GET <base URL>/models`). 0 after an answer; without calls, after a check that no longer shows the fault, or 90 s after the last failure of a fault that the check never showed.",
  labels: ["provider", "reason"]
})
export const priceBelowCost = defineGauge({
  name: "gateway_price_below_cost",
  help: "1 for a model whose longest answers cost more at a provider, by its configured cost, than `exact` charges for their output.",
  labels: ["provider", "model"]
})
export const fallbacks = defineCounter({
  name: "gateway_fallbacks_total",
  help: "Calls that another provider of the model was asked for, by the one that had failed.",
  labels: ["provider"]
})
export const upstreamSeconds = defineHistogram({
  name: "gateway_upstream_seconds",
  help: "From the call to a provider to its whole answer, or to the first event of its stream.",
  labels: ["provider"],
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
})
export const firstByteSeconds = defineHistogram({
  name: "gateway_first_byte_seconds",
  help: "From a caller's request to the first event of its stream.",
  labels: ["route"],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
})
export const breakerOpen = defineGauge({
  name: "gateway_breaker_open",
  help: "1 while the circuit of a provider's model is open.",
  labels: ["provider", "model"]
})
export const tokensServed = defineCounter({
  name: "gateway_tokens_total",
  help: "Tokens as providers counted them, by model and kind: input, cached, output.",
  labels: ["model", "kind"],
  values: { kind: ["input", "cached", "output"] }
})
export const charged = defineCounter({
  name: "gateway_charged_usd_total",
  help: "Prices of paid calls that were answered, in US dollars, by model and by whether the chain had the payment by then: settled, or pending.",
  labels: ["model", "outcome"],
  values: { outcome: ["settled", "pending"] }
})

export const signedAndCharged = defineCounter({
  name: "gateway_scheme_usd_total",
  help: "Paid calls that were answered, in US dollars, by the way in which they were paid: what their payers have signed, and what was charged of it.",
  labels: ["scheme", "part"],
  values: { scheme: signedSchemes, part: ["signed", "charged"] }
})

export const providerCost = defineCounter({
  name: "gateway_provider_cost_usd_total",
  help: "What providers take for whole answers, in US dollars, by model and provider; of upstreams whose cost is configured.",
  labels: ["model", "provider"]
})
export const imageJobs = defineCounter({
  name: "gateway_image_jobs_total",
  help: "Image jobs by how they ended: completed, failed.",
  labels: ["outcome"],
  values: { outcome: ["completed", "failed"] }
})

export const modelGatewayMetrics = [
  gatewayRequests,
  clientCalls,
  keysLeftOut,
  refusals,
  upstreamCalls,
  providerFailing,
  priceBelowCost,
  fallbacks,
  upstreamSeconds,
  firstByteSeconds,
  breakerOpen,
  tokensServed,
  charged,
  signedAndCharged,
  providerCost,
  imageJobs
]

export const paymentOutcomes = defineCounter({
  name: "gateway_payments_total",
  help: "Calls to paid models by what became of their payment: quoted, refused (by code), asked_again (a verifier, or a settler with an order about a channel, fell silent), verified, released, settled, pending, settlement_refused, forced (settled while still being streamed), given_again.",
  labels: ["outcome", "code"],
  values: {
    outcome: [
      "quoted",
      "refused",
      "asked_again",
      "verified",
      "released",
      "settled",
      "pending",
      "settlement_refused",
      "forced",
      "given_again"
    ]
  }
})

export type PaymentOutcome = (typeof paymentOutcomes.values.outcome)[number]

export const paymentSeconds = defineHistogram({
  name: "gateway_payment_seconds",
  help: "How long payments took of a call, by stage: verify (with the claim), store (of the answer), settle (until the chain has it, or the wait is over; by channel: until the charge is stored), deposit (of a channel).",
  labels: ["stage"],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
})

export const paymentMetrics = [paymentOutcomes, paymentSeconds]
