/** Metrics of the calls that leave the fleet, by use (`webhooks`, `otlp`, ...). */
import { defineCounter, defineGauge } from "#runtime"

export const socketsOpened = defineCounter({
  name: "egress_sockets_opened_total",
  help: "Connections made, by use.",
  labels: ["use"]
})

export const socketsReused = defineCounter({
  name: "egress_sockets_reused_total",
  help: "Requests that went over a connection that was open already, by use.",
  labels: ["use"]
})

export const refusals = defineCounter({
  name: "egress_refusals_total",
  help: "Connections refused by the address guard, by use and by the range that was hit.",
  labels: ["use", "range"]
})

export const pools = defineGauge({
  name: "egress_pools",
  help: "Pools of connections held open, by use.",
  labels: ["use"]
})

export const egressMetrics = [socketsOpened, socketsReused, refusals, pools]
