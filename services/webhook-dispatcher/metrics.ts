/** The metrics of webhook delivery. The endpoint label is the configured Name, never a URL. */
import { eventCatalogue } from "#contracts"
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

const latencySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const backoffSeconds = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 60, 120, 300, 1800, 7200, 36000]

export const eventsReceived = defineCounter({
  name: "webhook_events_received_total",
  help: "Events read from EVENTS by the fan-out, by event name.",
  labels: ["event"],
  values: { event: [...eventCatalogue.map(({ name }) => name), "other"] }
})

export const unknownReceived = defineCounter({
  name: "webhook_unknown_total",
  help: "Additive parts that came in and passed: kind is event (a name outside the catalogue) or field.",
  labels: ["kind"],
  values: { kind: ["event", "field"] }
})

export const deliveriesMade = defineCounter({
  name: "webhook_deliveries_queued_total",
  help: "Deliveries written by the fan-out, by endpoint.",
  labels: ["endpoint"]
})

export const deliveries = defineCounter({
  name: "webhook_deliveries_total",
  help: "Deliveries that came to an end, by endpoint and outcome: delivered, abandoned, gone.",
  labels: ["endpoint", "outcome"],
  values: { outcome: ["delivered", "abandoned", "gone"] }
})

export const attempts = defineCounter({
  name: "webhook_attempts_total",
  help: "Attempts by endpoint and status class: 2xx, 3xx, 4xx, 5xx, timeout, unreachable, refused.",
  labels: ["endpoint", "status_class"],
  values: { status_class: ["2xx", "3xx", "4xx", "5xx", "timeout", "unreachable", "refused"] }
})

export const receiverSeconds = defineHistogram({
  name: "webhook_receiver_seconds",
  help: "From sending a request to its answer or failure, by endpoint.",
  labels: ["endpoint"],
  buckets: latencySeconds
})

export const publishToFirstByteSeconds = defineHistogram({
  name: "webhook_publish_to_first_byte_seconds",
  help: "From an event's storage in EVENTS to the first byte of its first attempt leaving for the receiver.",
  labels: ["endpoint"],
  buckets: latencySeconds
})

export const publishToDeliveredSeconds = defineHistogram({
  name: "webhook_publish_to_delivered_seconds",
  help: "From an event's storage in EVENTS to its delivery, retries included.",
  labels: ["endpoint"],
  buckets: [...latencySeconds, 120, 300, 900, 3600]
})

export const backoff = defineHistogram({
  name: "webhook_backoff_seconds",
  help: "How long failed deliveries were made to wait before their next attempt.",
  labels: ["endpoint"],
  buckets: backoffSeconds
})

export const currentBackoff = defineGauge({
  name: "webhook_backoff_current_seconds",
  help: "The wait given to the endpoint's latest failed delivery; 0 after a success.",
  labels: ["endpoint"]
})

export const retryLateness = defineHistogram({
  name: "webhook_retry_lateness_seconds",
  help: "How much later than due a retry left. Never negative.",
  labels: ["endpoint"],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
})

export const inFlight = defineGauge({
  name: "webhook_in_flight",
  help: "Deliveries in work in this process, by endpoint.",
  labels: ["endpoint"]
})

export const backlog = defineGauge({
  name: "webhook_backlog",
  help: "Deliveries due and not yet finished, over all replicas, by endpoint.",
  labels: ["endpoint"]
})

export const oldestDueAge = defineGauge({
  name: "webhook_oldest_due_age_seconds",
  help: "Age of the oldest due delivery, by endpoint; 0 without a backlog.",
  labels: ["endpoint"]
})

export const retriesWaiting = defineGauge({
  name: "webhook_retries_waiting",
  help: "Deliveries that wait for their next attempt, over all endpoints.",
  labels: []
})

export const parkedEvents = defineGauge({
  name: "webhook_parked_events",
  help: "Events between what a parked endpoint has been given and the newest; 0 when it is in step.",
  labels: ["endpoint"]
})

export const parkedExpired = defineCounter({
  name: "webhook_parked_expired_total",
  help: "Events that a parked endpoint was not given: older than ParkedMaxDays, or no longer kept.",
  labels: ["endpoint"]
})

export const circuitState = defineGauge({
  name: "webhook_circuit_state",
  help: "0 closed, 1 half-open (one delivery probes), 2 open.",
  labels: ["endpoint"]
})

export const endpointPaused = defineGauge({
  name: "webhook_endpoint_paused",
  help: "1 while the endpoint is paused by an operator or by a 410, else 0.",
  labels: ["endpoint"]
})

export const tests = defineCounter({
  name: "webhook_tests_total",
  help: "Tests that operators sent, by endpoint and outcome: delivered, failed. They count nowhere else.",
  labels: ["endpoint", "outcome"],
  values: { outcome: ["delivered", "failed"] }
})

export const attemptRecordsDropped = defineCounter({
  name: "webhook_attempt_records_dropped_total",
  help: "Records of the delivery log that were lost because the log could not keep up or be written.",
  labels: []
})

export const postponed = defineCounter({
  name: "webhook_postponed_total",
  help: "Deliveries put off without an attempt, by endpoint and reason: full, circuit_open, paused.",
  labels: ["endpoint", "reason"],
  values: { reason: ["full", "circuit_open", "paused"] }
})

export const webhookMetrics = [
  eventsReceived,
  unknownReceived,
  deliveriesMade,
  deliveries,
  attempts,
  receiverSeconds,
  publishToFirstByteSeconds,
  publishToDeliveredSeconds,
  backoff,
  currentBackoff,
  retryLateness,
  inFlight,
  backlog,
  oldestDueAge,
  retriesWaiting,
  parkedEvents,
  parkedExpired,
  circuitState,
  endpointPaused,
  tests,
  attemptRecordsDropped,
  postponed
]
