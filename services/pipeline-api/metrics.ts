/** The metrics of the pipeline beside those of its actors: reports, pickup, follow-ups. */
import { PickupNothing } from "#contracts"
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const reportsTotal = defineCounter({
  name: "pipeline_reports_total",
  help: "Reports by kind and outcome: decided, unchanged (late, or again), refused, unknown (of nothing that there is), told, ignored, handed_back.",
  labels: ["kind", "outcome"],
  values: { outcome: ["decided", "unchanged", "refused", "unknown", "told", "ignored", "handed_back"] }
})

export const commandsAnswered = defineCounter({
  name: "pipeline_commands_answered_total",
  help: "Commands from the bus by entity and answer: accepted, refused, not_found, busy, invalid.",
  labels: ["entity", "answer"],
  values: { answer: ["accepted", "refused", "not_found", "busy", "invalid"] }
})

export const pickupsTotal = defineCounter({
  name: "pipeline_pickups_total",
  help: "Runners that asked for something to do, by what they were given: dispatch (a new one, or the same once more), or why nothing.",
  labels: ["answer"],
  values: { answer: ["dispatch", ...PickupNothing.fields.why.literals] }
})

export const pickupSeconds = defineHistogram({
  name: "pipeline_pickup_dispatch_seconds",
  help: "From looking for an item to its dispatch, without the wait for one to come up, in seconds.",
  labels: [],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
})

export const pickupTries = defineCounter({
  name: "pipeline_pickup_tries_total",
  help: "Items that pickup tried, by what came of it: dispatched, lost (to another runner, or to a change on the way), paused, put_off.",
  labels: ["outcome"],
  values: { outcome: ["dispatched", "lost", "paused", "put_off"] }
})

export const readyItems = defineGauge({
  name: "pipeline_ready_items",
  help: "Items that a runner may take now, by the agent kind or class that they name.",
  labels: ["agent"]
})

export const pickupWaiters = defineGauge({
  name: "pipeline_pickup_waiters",
  help: "Runners that wait for something to do.",
  labels: []
})

export const followUpsTotal = defineCounter({
  name: "pipeline_follow_ups_total",
  help: "Commands that followed from records of the log, by entity and outcome: decided, unchanged, repeated, refused, not_found.",
  labels: ["entity", "outcome"],
  values: { outcome: ["decided", "unchanged", "repeated", "refused", "not_found"] }
})

export const followUpsBehind = defineGauge({
  name: "pipeline_follow_ups_behind",
  help: "Records of the log that have not been followed up yet.",
  labels: []
})

/** For the generated page. */
export const pipelineMetrics = [
  reportsTotal,
  commandsAnswered,
  pickupsTotal,
  pickupSeconds,
  pickupTries,
  readyItems,
  pickupWaiters,
  followUpsTotal,
  followUpsBehind
]
