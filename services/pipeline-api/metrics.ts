/** The metrics of the pipeline beside those of its actors: reports, pickup, follow-ups. */
import { PickupNothing } from "#pipeline/contract"
import { defineCounter, defineGauge } from "#runtime"

export const reportsTotal = defineCounter({
  name: "pipeline_reports_total",
  help: "Reports by kind and outcome: decided, unchanged (late, or again), refused, unknown (of nothing that there is), told, ignored, handed_back.",
  labels: ["kind", "outcome"],
  values: { outcome: ["decided", "unchanged", "refused", "unknown", "told", "ignored", "handed_back"] }
})

export const pickupsTotal = defineCounter({
  name: "pipeline_pickups_total",
  help: "Runners that asked for something to do, by what they were given: dispatch (a new one, or the same once more), or why nothing.",
  labels: ["answer"],
  values: { answer: ["dispatch", ...PickupNothing.fields.why.literals] }
})

export const readyItems = defineGauge({
  name: "pipeline_ready_items",
  help: "Items that a runner may take now, by the agent kind or class that they name.",
  labels: ["agent"]
})

export const agentsBenched = defineGauge({
  name: "pipeline_agent_benched",
  help: "1 while an agent, or one of its instances, is benched: its credentials fail, or its runs end too fast. Else 0.",
  labels: ["agent"]
})

export const pickupWaiters = defineGauge({
  name: "pipeline_pickup_waiters",
  help: "Runners that wait for something to do.",
  labels: []
})

export const followUpsBehind = defineGauge({
  name: "pipeline_follow_ups_behind",
  help: "Records of the log that have not been followed up yet.",
  labels: []
})

/** For the generated page. */
export const pipelineMetrics = [reportsTotal, pickupsTotal, readyItems, agentsBenched, pickupWaiters, followUpsBehind]
