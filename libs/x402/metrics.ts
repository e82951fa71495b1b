/** The metrics of payments. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"
import { rpcMetrics } from "./chains/json-rpc.ts"

export const claimsTaken = defineCounter({
  name: "x402_claims_total",
  help: "Payments that were to be claimed for a call: claimed, retaken after a release, or refused as replay, exposure (other claims take up the balance or the limit), unfunded or denied.",
  labels: ["outcome"],
  values: { outcome: ["claimed", "retaken", "replay", "exposure", "unfunded", "denied"] }
})

export const claimMoves = defineCounter({
  name: "x402_claim_moves_total",
  help: "Moves of claims from state to state, and whether they were made (moved) or another write was first (lost).",
  labels: ["move", "outcome"],
  values: {
    move: ["Renew", "Serve", "Settle", "AskAgain", "Prepare", "Settled", "Uncollected", "Release"],
    outcome: ["moved", "lost"]
  }
})

export const claimSweeps = defineCounter({
  name: "x402_claim_sweeps_total",
  help: "What the sweep did about claims whose holders are gone: released, sent to be settled, requested again.",
  labels: ["move"],
  values: { move: ["Release", "Settle", "AskAgain"] }
})

export const channelCommands = defineCounter({
  name: "x402_channel_commands_total",
  help: "Commands to payment channels: done, refused by the channel, or failed because its record could not be read or written.",
  labels: ["command", "outcome"],
  values: {
    command: ["Mirror", "Begin", "Renew", "Serve", "Charge", "Release", "Lapse", "Receipted", "SignRefund", "Forget"],
    outcome: ["done", "refused", "failed"]
  }
})

export const facilitatorCalls = defineCounter({
  name: "x402_facilitator_calls_total",
  help: "Calls to a remote facilitator: accepted, refused, pending (the outcome is unknown), unavailable.",
  labels: ["operation", "outcome"],
  values: { operation: ["verify", "settle", "supported"], outcome: ["accepted", "refused", "pending", "unavailable"] }
})

export const facilitatorSeconds = defineHistogram({
  name: "x402_facilitator_seconds",
  help: "How long a remote facilitator took to answer.",
  labels: ["operation"],
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
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
  claimMoves,
  claimSweeps,
  channelCommands,
  facilitatorCalls,
  facilitatorSeconds,
  facilitatorUnconfirmed,
  tokenMismatch,
  ...rpcMetrics
]
