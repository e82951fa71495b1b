/** What the actors count about themselves, by entity. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const commandsTotal = defineCounter({
  name: "actor_commands_total",
  help: "Commands by entity and outcome: decided, unchanged, repeated, refused, not_found, busy, failed.",
  labels: ["entity", "outcome"]
})

export const commandSeconds = defineHistogram({
  name: "actor_command_seconds",
  help: "Time from a command's arrival at its actor to the stored decision, by entity, in seconds.",
  labels: ["entity"],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
})

export const conflictsTotal = defineCounter({
  name: "actor_conflicts_total",
  help: "Decisions made again because another replica had decided first, by entity.",
  labels: ["entity"]
})

export const announcedTotal = defineCounter({
  name: "actor_events_announced_total",
  help: "Events of actors that were published to EVENTS.",
  labels: []
})

export const viewsWritten = defineCounter({
  name: "actor_views_written_total",
  help: "Rows of the views that were made from records.",
  labels: []
})

export const viewsBehind = defineGauge({
  name: "actor_views_behind",
  help: "Records of LOG that the views of this process do not show yet.",
  labels: []
})

export const viewsLeftOut = defineGauge({
  name: "actor_views_left_out",
  help: "Rows beyond what the views of this process keep: ended ones only miss in lists; moving ones are not worked on, and caps cannot be counted.",
  labels: ["which"]
})

/** For the generated page. */
export const actorMetrics = [
  commandsTotal,
  commandSeconds,
  conflictsTotal,
  announcedTotal,
  viewsWritten,
  viewsBehind,
  viewsLeftOut
]
