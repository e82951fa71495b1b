/** What the intake of recordings counts about itself. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const recordingsRead = defineCounter({
  name: "audio_recordings_total",
  help: "Recordings sent in, by outcome: taken, a reason for which it cannot be used, busy, missing.",
  labels: ["outcome"]
})

export const recordingsReading = defineGauge({
  name: "audio_recordings_reading",
  help: "Recordings being read now.",
  labels: []
})

export const recordingSeconds = defineHistogram({
  name: "audio_recording_read_seconds",
  help: "Time to decode and measure one recording, whatever came of it.",
  labels: [],
  buckets: [0.05, 0.1, 0.15, 0.25, 0.5, 1, 2, 4, 8, 16]
})

export const intakeMetrics = [recordingsRead, recordingsReading, recordingSeconds]
