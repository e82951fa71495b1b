/** The metrics of the synthesizers, beside those of their engines. */
import { defineCounter } from "#runtime"

export const jobsTotal = defineCounter({
  name: "speech_jobs_total",
  help: "Chunks that a synthesizer took up, by outcome: made, cancelled or failed.",
  labels: ["outcome"],
  values: { outcome: ["made", "cancelled", "failed"] }
})

export const synthesizerMetrics = [jobsTotal]
