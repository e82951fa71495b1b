/** What an SRE sees of the payment gate. */
import { defineCounter, defineHistogram } from "#runtime"

export const paymentOutcomes = defineCounter({
  name: "gateway_payments_total",
  help: "Calls to paid models by what became of their payment: quoted, refused (by code), asked_again (a verifier fell silent), verified, released, settled, pending, settlement_refused, forced (settled while still being streamed), given_again.",
  labels: ["outcome", "code"]
})

export const paymentSeconds = defineHistogram({
  name: "gateway_payment_seconds",
  help: "How long payments took of a call, by stage: verify (with the claim), store (of the answer), settle (until the chain has it, or the wait is over).",
  labels: ["stage"],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
})

export const paymentMetrics = [paymentOutcomes, paymentSeconds]
