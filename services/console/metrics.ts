/** The metrics of the console: what lies in the broker until an operator acts on it. */
import { defineGauge } from "#runtime"

export const abandonedDeliveries = defineGauge({
  name: "webhook_abandoned_deliveries",
  help: "Deliveries in ABANDONED, until they are resent or discarded, by endpoint.",
  labels: ["endpoint"]
})
export const rejectedMessages = defineGauge({
  name: "bus_rejected_messages",
  help: "Messages in REJECTED, until they are resent or discarded, by origin.",
  labels: ["origin"]
})
export const endpointUnusable = defineGauge({
  name: "webhook_endpoint_unusable",
  help: "1 for an endpoint made at run time whose settings or secrets cannot be used; its events wait.",
  labels: ["endpoint"]
})
export const streamLost = defineGauge({
  name: "bus_stream_lost",
  help: "1 for a stream that was lost with its messages and made again, until `starling broker streams --accept-losses`.",
  labels: ["stream"]
})
export const copiesBehind = defineGauge({
  name: "bus_stream_copies_behind",
  help: "Copies of a stream on servers that are away or behind. No series while all copies are current.",
  labels: ["stream"]
})

export const settlementWaitingSince = defineGauge({
  name: "payment_settlement_waiting_since_seconds",
  help: "When the oldest payment that is not settled yet came into SETTLEMENTS, in epoch seconds; 0 without any.",
  labels: []
})

export const keptMetrics = [
  settlementWaitingSince,
  abandonedDeliveries,
  rejectedMessages,
  endpointUnusable,
  streamLost,
  copiesBehind
]
