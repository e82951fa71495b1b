/** Metrics of the encoders, by encoder (`mp3_24000_64`, ...). */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const encoderPoolDepth = defineGauge({
  name: "audio_encoder_pool_depth",
  help: "Encoders that were started ahead and wait for work, by encoder.",
  labels: ["encoder"]
})

export const encodersRunning = defineGauge({
  name: "audio_encoders_running",
  help: "Encoders at work, by encoder.",
  labels: ["encoder"]
})

export const encoderMisses = defineCounter({
  name: "audio_encoder_misses_total",
  help: "Answers that had to start their own encoder because none was waiting, by encoder.",
  labels: ["encoder"]
})

export const encoderFailures = defineCounter({
  name: "audio_encoder_failures_total",
  help: "Answers that got no encoder, or whose encoder broke, by encoder and reason: missing, failed, overloaded (all slots are taken), starting (one that has a slot does not start in time).",
  labels: ["encoder", "reason"],
  values: { reason: ["missing", "failed", "overloaded", "starting"] }
})

export const encoderStart = defineHistogram({
  name: "audio_encoder_start_seconds",
  help: "From starting an encoder to its first sign of life, by encoder.",
  labels: ["encoder"],
  buckets: [0.002, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1, 2]
})

export const audioMetrics = [encoderPoolDepth, encodersRunning, encoderMisses, encoderFailures, encoderStart]
