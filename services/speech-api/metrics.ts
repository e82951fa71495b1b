/** The metrics of speech-api and of cloned voices, beside those of its listener. */
import { audioFormats } from "#speech/audio"
import { speechModels } from "#speech/contract"
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

const quick = [0.002, 0.004, 0.006, 0.008, 0.012, 0.016, 0.024, 0.04, 0.08, 0.16, 0.5, 1, 2, 5]

export const streamsActive = defineGauge({
  name: "speech_streams_active",
  help: "Answers being spoken now.",
  labels: []
})
export const firstByteSeconds = defineHistogram({
  name: "speech_first_byte_seconds",
  help: "From the request to the first byte of audio, by format and model.",
  labels: ["format", "model"],
  buckets: quick
})
export const firstSoundSeconds = defineHistogram({
  name: "speech_first_sound_seconds",
  help: "From the request to the first sound that a caller hears who plays what comes: the first byte, and the silence at the beginning. Without answers from the cache.",
  labels: ["engine"],
  buckets: quick
})
export const stageSeconds = defineHistogram({
  name: "speech_stage_seconds",
  help: "Parts of the time to the first byte: wait (its turn to begin came), admit (a sequencer took the session), first_pcm, encode; or cache, in place of the last three.",
  labels: ["stage"],
  buckets: quick
})
export const spokenSeconds = defineCounter({
  name: "speech_spoken_seconds_total",
  help: "Seconds of audio served.",
  labels: ["format"],
  values: { format: audioFormats.map(({ name }) => name) }
})
export const realTimeFactor = defineHistogram({
  name: "speech_real_time_factor",
  help: "Time an answer took over the length of its audio; below 1 is faster than it is heard.",
  labels: [],
  buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 1, 1.2, 2]
})
export const underruns = defineCounter({
  name: "speech_underruns_total",
  help: "Times that a client that plays as it receives would have fallen silent.",
  labels: []
})
export const streamsEnded = defineCounter({
  name: "speech_streams_total",
  help: "Answers by how they ended: spoken, cancelled by the caller, failed.",
  labels: ["outcome"],
  values: { outcome: ["spoken", "cancelled", "failed"] }
})
export const takeovers = defineCounter({
  name: "speech_takeovers_total",
  help: "Sessions that another sequencer was asked to go on with.",
  labels: []
})
export const refusals = defineCounter({
  name: "speech_refusals_total",
  help: "Answers refused for want of capacity, by reason: beginnings (too many were before it), listeners (who listens already has little left, or would have before the end), stalled (the process is late itself), sequencers (all are busy), unavailable (none answers), encoders (all places are taken), encoder_start (one does not start).",
  labels: ["reason"],
  values: { reason: ["beginnings", "listeners", "stalled", "sequencers", "unavailable", "encoders", "encoder_start"] }
})
export const beginnings = defineGauge({
  name: "speech_beginnings",
  help: "Answers that have begun and not brought their caller three seconds of sound yet.",
  labels: []
})
export const jobsRunning = defineGauge({
  name: "speech_jobs_running",
  help: "Books that this process has spoken now.",
  labels: []
})
export const jobsEnded = defineCounter({
  name: "speech_jobs_total",
  help: "Jobs by how they ended: completed, failed, removed by the caller before their end.",
  labels: ["outcome"],
  values: { outcome: ["completed", "failed", "removed"] }
})
export const waitingCallers = defineGauge({
  name: "speech_callers_waiting",
  help: "Callers that wait for their turn to begin.",
  labels: []
})
export const beginSeconds = defineGauge({
  name: "speech_begin_seconds",
  help: "Measured capacity: how long a beginning takes just now, by engine.",
  labels: ["engine"]
})
export const charactersSpoken = defineCounter({
  name: "speech_billable_characters_total",
  help: "Characters of input spoken, as they are billed.",
  labels: ["model"],
  values: { model: speechModels.map(({ id }) => id) }
})

export const cacheLookups = defineCounter({
  name: "speech_cache_lookups_total",
  help: "Answers looked for in the cache of finished speech, by result: hit, miss. Speech of cloned voices is not looked for.",
  labels: ["result"],
  values: { result: ["hit", "miss"] }
})
export const cacheBytes = defineGauge({
  name: "speech_cache_bytes",
  help: "Finished speech in the cache, in bytes, with its marks.",
  labels: []
})
export const cacheEntries = defineGauge({
  name: "speech_cache_entries",
  help: "Answers in the cache of finished speech.",
  labels: []
})

export const liveConnections = defineGauge({
  name: "speech_live_connections",
  help: "Live connections: WebSockets over which text comes while it is spoken.",
  labels: []
})
export const liveContexts = defineCounter({
  name: "speech_live_contexts_total",
  help: "Contexts of live connections by how they ended: spoken, cancelled, failed, left (the connection closed before).",
  labels: ["outcome"],
  values: { outcome: ["spoken", "cancelled", "failed", "left"] }
})
export const liveFirstAudioSeconds = defineHistogram({
  name: "speech_live_first_audio_seconds",
  help: "From the moment that a clause is known to have ended to its first audio.",
  labels: [],
  buckets: quick
})
export const liveCloses = defineCounter({
  name: "speech_live_closes_total",
  help: "Live connections that ended, by the code of their close.",
  labels: ["code"],
  values: { code: ["1000", "1001", "1003", "1005", "1006", "1007", "1008", "1009", "1011", "4408", "other"] }
})

export const voicesCreated = defineCounter({
  name: "speech_voice_creates_total",
  help: "Voices asked for, by flow (challenge, declared) and outcome: created, or the code of the refusal.",
  labels: ["flow", "outcome"]
})

export const speechApiMetrics = [
  streamsActive,
  firstByteSeconds,
  firstSoundSeconds,
  stageSeconds,
  spokenSeconds,
  realTimeFactor,
  underruns,
  streamsEnded,
  takeovers,
  refusals,
  beginnings,
  jobsRunning,
  jobsEnded,
  waitingCallers,
  beginSeconds,
  charactersSpoken,
  cacheLookups,
  cacheBytes,
  cacheEntries,
  liveConnections,
  liveContexts,
  liveFirstAudioSeconds,
  liveCloses,
  voicesCreated
]
