/** The metrics of the sequencers. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const sessionsActive = defineGauge({
  name: "speech_sessions_active",
  help: "Sessions in work at a sequencer.",
  labels: []
})
export const sessionsEnded = defineCounter({
  name: "speech_sessions_total",
  help: "Sessions by how they ended: spoken, cancelled by the client, abandoned without credit, failed, busy or refused.",
  labels: ["outcome"],
  values: { outcome: ["spoken", "cancelled", "abandoned", "failed", "busy", "refused"] }
})
export const sessionsRefused = defineCounter({
  name: "speech_sessions_refused_total",
  help: "Sessions answered as busy, by reason: draining, sessions (SessionsMax), beginnings (too many at once), listeners (those present have little audio left), stalled (the process is late itself).",
  labels: ["reason"],
  values: { reason: ["draining", "sessions", "beginnings", "listeners", "stalled"] }
})
export const chunksRequested = defineCounter({
  name: "speech_chunks_asked_total",
  help: "Chunks requested of the synthesizers: first, or again after one failed or fell silent.",
  labels: ["reason"],
  values: { reason: ["first", "again"] }
})
export const chunkSeconds = defineHistogram({
  name: "speech_chunk_seconds",
  help: "From the first request for a chunk to having all of it.",
  labels: [],
  buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
})
export const creditWaits = defineCounter({
  name: "speech_credit_waits_total",
  help: "Times that audio was ready and the client had no credit for it.",
  labels: []
})

export const sequencerMetrics = [
  sessionsActive,
  sessionsEnded,
  sessionsRefused,
  chunksRequested,
  chunkSeconds,
  creditWaits
]
