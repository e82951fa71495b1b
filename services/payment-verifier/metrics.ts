/**
 * The metrics of payment-verifier. Networks are configured names, codes are the protocol's; no label holds a payer's
 * text.
 */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const verifications = defineCounter({
  name: "payment_verifications_total",
  help: "Payments that were to be verified, by network, outcome (verified, refused, unavailable) and code.",
  labels: ["network", "outcome", "code"],
  values: { outcome: ["verified", "refused", "unavailable"] }
})

export const verificationSeconds = defineHistogram({
  name: "payment_verification_seconds",
  help: "How long a stage of a verification took: check (in this process), claim (on the bus, with the wait for funds), funds (the balance, of a payer with other claims or one that was settled within a minute), simulate (on the chain).",
  labels: ["network", "stage"],
  buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

export const verificationsRunning = defineGauge({
  name: "payment_verifications_running",
  help: "Payments in work now.",
  labels: []
})

export const verifierMetrics = [verifications, verificationSeconds, verificationsRunning]
