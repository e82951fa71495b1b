/** Calls to the nodes of the chains. The network is the CAIP-2 name, the method one of the few that the schemes use. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const rpcCalls = defineCounter({
  name: "x402_rpc_calls_total",
  help: "Calls to chain nodes, by network, method and outcome: answered, rejected (a JSON-RPC error), waited (for what did not come to be in time), unavailable.",
  labels: ["network", "method", "outcome"]
})

export const rpcSeconds = defineHistogram({
  name: "x402_rpc_seconds",
  help: "From a call to a chain node to its answer or failure, by network and method.",
  labels: ["network", "method"],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

export const rpcNodesOpen = defineGauge({
  name: "x402_rpc_nodes_open",
  help: "Chain nodes that are left alone for now because they gave no answer again and again, by network.",
  labels: ["network"]
})

export const rpcMetrics = [rpcCalls, rpcSeconds, rpcNodesOpen]
