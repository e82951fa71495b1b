/** The metrics of the synthesizers, beside those of their engines. */
import { defineGauge } from "#runtime"

export const chunksWaiting = defineGauge({
  name: "speech_chunks_waiting",
  help: "Chunks that a synthesizer has taken and that wait for its engine, by engine; beyond 32 they wait on the bus.",
  labels: ["engine"]
})

export const engineUsable = defineGauge({
  name: "speech_engine_usable",
  help: "1 while an engine can speak or is being opened, 0 when it could not be opened or keeps ending, by engine; engines that a synthesizer always has are left out.",
  labels: ["engine"]
})

export const synthesizerMetrics = [chunksWaiting, engineUsable]
