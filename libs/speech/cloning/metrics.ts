/** What the measuring of samples counts about itself. */
import { defineCounter, defineHistogram } from "#runtime"

export const voicesMeasured = defineCounter({
  name: "speech_voice_measures_total",
  help: "Samples measured, by outcome: measured, too_little_voice, unavailable, cancelled.",
  labels: ["outcome"]
})

export const measureSeconds = defineHistogram({
  name: "speech_voice_measure_seconds",
  help: "Time to measure one sample, the start of its thread included.",
  labels: [],
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16]
})

export const cloningMetrics = [voicesMeasured, measureSeconds]
