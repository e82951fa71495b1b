/** What our own APIs answered. Routes are the patterns of the code, never a caller's path. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const requests = defineCounter({
  name: "http_requests_total",
  help: "Requests by API, route and status class; 'gone' is a caller who left before the end, 'broken' an answer that broke off.",
  labels: ["api", "route", "status"]
})

export const requestSeconds = defineHistogram({
  name: "http_request_seconds",
  help: "From a request's headers to the last byte of its answer.",
  labels: ["api", "route"],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60]
})

export const activeRequests = defineGauge({
  name: "http_requests_active",
  help: "Requests that are being answered.",
  labels: ["api"]
})

export const connectionsCut = defineCounter({
  name: "http_connections_cut_total",
  help: "Connections refused or cut: too many, too slow, malformed, or a reader that stalled.",
  labels: ["api", "reason"]
})

export const httpMetrics = [requests, requestSeconds, activeRequests, connectionsCut]
