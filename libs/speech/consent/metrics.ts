/** What the verification of consents counts about itself. */
import { defineCounter, defineHistogram } from "#runtime"

export const consentChecks = defineCounter({
  name: "speech_consent_checks_total",
  help: "Consents verified, by outcome: verified, phrase_mismatch, speaker_mismatch, unusable, unavailable.",
  labels: ["outcome"]
})

export const consentStageSeconds = defineHistogram({
  name: "speech_consent_stage_seconds",
  help: "Time of one stage of a verification, by stage: phrase, speaker.",
  labels: ["stage"],
  buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32]
})

export const consentMetrics = [consentChecks, consentStageSeconds]
