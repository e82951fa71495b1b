/** What an SRE sees of cloned voices. */
import { defineCounter, defineHistogram } from "#runtime"

export const challengesAsked = defineCounter({
  name: "speech_consent_challenges_total",
  help: "Consent challenges asked for, by outcome: given, or the code of the refusal.",
  labels: ["outcome"]
})
export const voicesCreated = defineCounter({
  name: "speech_voice_creates_total",
  help: "Voices asked for, by flow (challenge, declared) and outcome: created, or the code of the refusal.",
  labels: ["flow", "outcome"]
})
export const voicesDeleted = defineCounter({
  name: "speech_voice_deletes_total",
  help: "Cloned voices deleted by their workspaces.",
  labels: []
})
export const voiceStageSeconds = defineHistogram({
  name: "speech_voice_stage_seconds",
  help: "Parts of making a voice: challenge, decode, verify, measure, store.",
  labels: ["stage"],
  buckets: [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
})
export const voicesSwept = defineCounter({
  name: "speech_voices_swept_total",
  help: "Voices cleared away that were neither finished nor removed by whoever began it.",
  labels: []
})

export const voiceMetrics = [challengesAsked, voicesCreated, voicesDeleted, voiceStageSeconds, voicesSwept]
