/** The metrics of payments. */
import { defineCounter, defineGauge } from "#runtime"
import { rpcMetrics } from "./chains/json-rpc.ts"
import { reachMetrics } from "./reach.ts"

export const claimsTaken = defineCounter({
  name: "x402_claims_total",
  help: "Payments that were to be claimed for a call: claimed, retaken after a release, or refused as replay, exposure (other claims take up the balance), unpaid (what the payer may have unpaid is taken up), newcomers (so is what all payers that have paid little may have), unfunded or denied.",
  labels: ["outcome"],
  values: { outcome: ["claimed", "retaken", "replay", "exposure", "unpaid", "newcomers", "unfunded", "denied"] }
})

export const unpaidNow = defineGauge({
  name: "x402_unpaid_usd",
  help: "The price of the calls that are claimed and not settled: of all payers (all), and what of it is beyond what each of them has paid before (newcomers). Told by the sweep.",
  labels: ["part"]
})

export const unpaidLost = defineCounter({
  name: "x402_unpaid_lost_usd_total",
  help: "The price of calls that nobody pays for any more: the payment could not be collected by the payer's doing, or its caller left a provider at work.",
  labels: []
})

export const facilitatorCalls = defineCounter({
  name: "x402_facilitator_calls_total",
  help: "Calls to a remote facilitator: accepted, refused, pending (the outcome is unknown), unavailable.",
  labels: ["operation", "outcome"],
  values: { operation: ["verify", "settle", "supported"], outcome: ["accepted", "refused", "pending", "unavailable"] }
})

export const facilitatorUnconfirmed = defineCounter({
  name: "x402_facilitator_unconfirmed_total",
  help: "Settlements that a remote facilitator reported and that the chain did not have within five seconds, by network.",
  labels: ["network"]
})

export const tokenMismatch = defineGauge({
  name: "x402_token_mismatch",
  help: "1 while the token of a network, or its chain, is not the one that is configured: nothing is sold there.",
  labels: ["network"]
})

export const x402Metrics = [
  claimsTaken,
  unpaidNow,
  unpaidLost,
  facilitatorCalls,
  facilitatorUnconfirmed,
  tokenMismatch,
  ...rpcMetrics,
  ...reachMetrics
]
