/** The metrics of the sweeps, by the name of the sweep. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const sweepHeld = defineGauge({
  name: "sweeper_held",
  help: "1 while this process runs the sweep; over all replicas the sum is 1.",
  labels: ["sweep"]
})
export const sweepLastRun = defineGauge({
  name: "sweeper_last_run_timestamp_seconds",
  help: "When the sweep last ran to its end, in seconds since the epoch.",
  labels: ["sweep"]
})
export const sweepSeconds = defineHistogram({
  name: "sweeper_run_seconds",
  help: "How long a run of the sweep took, whether it failed or not.",
  labels: ["sweep"],
  buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60, 300]
})
export const sweepFindings = defineCounter({
  name: "sweeper_findings_total",
  help: "What sweeps found, by sweep and by what it is.",
  labels: ["sweep", "finding"]
})
export const sweepFailures = defineCounter({
  name: "sweeper_failures_total",
  help: "Runs that failed; the sweep runs again at its next interval.",
  labels: ["sweep"]
})
export const sweepCommands = defineCounter({
  name: "sweeper_commands_total",
  help: "Commands that sweeps sent, by outcome: decided, unchanged, repeated, refused, not_found, busy, invalid, left.",
  labels: ["sweep", "outcome"],
  values: { outcome: ["decided", "unchanged", "repeated", "refused", "not_found", "busy", "invalid", "left"] }
})
export const sweeperMetrics = [sweepHeld, sweepLastRun, sweepSeconds, sweepFindings, sweepFailures, sweepCommands]
