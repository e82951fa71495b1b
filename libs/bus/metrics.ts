/** What the bus counts about itself, by role. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const busConnected = defineGauge({
  name: "bus_connected",
  help: "1 while the role's connection to the broker is up, else 0.",
  labels: []
})

export const busReconnects = defineCounter({
  name: "bus_reconnects_total",
  help: "Times the connection to the broker came back after a loss.",
  labels: []
})

export const topologyDifferences = defineGauge({
  name: "bus_topology_differences",
  help: "What of the streams that the role uses is not as declared; it waits until this is 0. Only where they are somebody else's.",
  labels: []
})

export const busPublished = defineCounter({
  name: "bus_published_total",
  help: "Messages whose storage the broker confirmed (outcome stored), or did not (outcome failed), by stream.",
  labels: ["stream", "outcome"]
})

export const busConsumed = defineCounter({
  name: "bus_consumed_total",
  help: "Messages handed to a consumer's handler, by stream and what became of them: acked, handed_back, deferred, rejected, failed.",
  labels: ["stream", "outcome"]
})

export const busRedelivered = defineCounter({
  name: "bus_redelivered_total",
  help: "Messages that arrived again because an earlier delivery was not acknowledged, by stream.",
  labels: ["stream"]
})

export const busRejected = defineCounter({
  name: "bus_rejected_total",
  help: "Messages that failed their schema and were put into the REJECTED stream with the reason, by origin.",
  labels: ["origin"]
})

export const questionsTurnedAway = defineCounter({
  name: "bus_questions_turned_away_total",
  help: "Questions that were answered with busy at once, for too many were being answered already, by subject.",
  labels: ["subject"]
})

export const relayRunSize = defineHistogram({
  name: "bus_relay_run_messages",
  help: "Source messages that one atomic relay write covered, by relay.",
  labels: ["relay"],
  buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256]
})

export const relayConflicts = defineCounter({
  name: "bus_relay_conflicts_total",
  help: "Relay writes lost to a twin that wrote the cursor first, by relay. Harmless: the loser stands by.",
  labels: ["relay"]
})

export const relayActive = defineGauge({
  name: "bus_relay_active",
  help: "1 where the relay reads and writes, 0 where it stands by for a twin in another process, by relay. On a quiet source it may be 1 in several.",
  labels: ["relay"]
})

export const relayPosition = defineGauge({
  name: "bus_relay_position",
  help: "Sequence of the source stream up to which the relay has written, in whichever process, by relay.",
  labels: ["relay"]
})

export const busMetrics = [
  busConnected,
  busReconnects,
  topologyDifferences,
  busPublished,
  busConsumed,
  busRedelivered,
  busRejected,
  questionsTurnedAway,
  relayRunSize,
  relayConflicts,
  relayActive,
  relayPosition
]
