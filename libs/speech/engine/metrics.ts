/** What the engines count about themselves. */
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const synthesisSeconds = defineHistogram({
  name: "speech_engine_synthesis_seconds",
  help: "Time an engine's thread was busy with one job, by engine.",
  labels: ["engine"],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

export const realTimeFactor = defineHistogram({
  name: "speech_engine_real_time_factor",
  help: "Seconds of work for one second of audio, by engine; jobs that were spoken to their end.",
  labels: ["engine"],
  buckets: [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1, 2]
})

export const jobsRunning = defineGauge({
  name: "speech_engine_jobs_running",
  help: "Jobs that a thread works on now, by engine.",
  labels: ["engine"]
})

export const jobsEnded = defineCounter({
  name: "speech_engine_jobs_total",
  help: "Jobs by engine and how they ended: spoken, cancelled, failed, busy.",
  labels: ["engine", "outcome"]
})

export const threadsReplaced = defineCounter({
  name: "speech_engine_threads_replaced_total",
  help: "Threads started in place of one that died or hung, by engine.",
  labels: ["engine"]
})

export const engineMetrics = [synthesisSeconds, realTimeFactor, jobsRunning, jobsEnded, threadsReplaced]
