/** Metrics of our own APIs' answers. Routes are the code's patterns, never a caller's path. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const requests = defineCounter({
  name: "http_requests_total",
  help: "Requests by API, route and status class; 'gone' is a caller who left before the end, 'broken' an answer that broke off.",
  labels: ["api", "route", "status"],
  values: { status: ["1xx", "2xx", "3xx", "4xx", "5xx", "gone", "broken"] }
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

export const bodyBytesHeld = defineGauge({
  name: "http_body_bytes_held",
  help: "Bytes of bodies that are being read or answered, beside those of at most 16 KiB.",
  labels: ["api"]
})

export const connectionsCut = defineCounter({
  name: "http_connections_cut_total",
  help: "Connections refused or cut: too many, too slow, malformed, or a reader that stalled.",
  labels: ["api", "reason"],
  values: { reason: ["too many", "not accepted", "too slow", "malformed", "stalled", "pipelined"] }
})

export const idempotencyOutcomes = defineCounter({
  name: "http_idempotent_requests_total",
  help: "Requests with an idempotency key by what became of them: first (ran, answer stored), freed (ran, failed or was stopped), unstored (ran, answer not kept), replayed, conflict, in_flight, lost (the claim went while it ran), unavailable.",
  labels: ["route", "outcome"],
  values: { outcome: ["first", "freed", "unstored", "replayed", "conflict", "in_flight", "lost", "unavailable"] }
})

export const sharedWindowTakes = defineCounter({
  name: "http_shared_rate_takes_total",
  help: "Calls counted in a rate window over all replicas: taken, refused, or failed because the broker did not answer; of calls that are counted in the background a failure is a key whose counts could not be settled.",
  labels: ["window", "outcome"],
  values: { outcome: ["taken", "refused", "failed"] }
})

export const httpMetrics = [
  requests,
  requestSeconds,
  activeRequests,
  bodyBytesHeld,
  connectionsCut,
  idempotencyOutcomes,
  sharedWindowTakes
]
