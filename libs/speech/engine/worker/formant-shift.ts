/**
 * A longer or shorter throat: the engine speaks slower and lower, or faster and higher, by a factor, and its
 * samples are played as if they had been taken at a rate higher or lower by the same factor. Pitch and pace come
 * out as asked, the formants moved. Pure.
 */
import type { EngineVoice } from "#contracts"

/** The rates between which a resampler's table stays small: a hundred and sixty phases to the fleet's 24,000 Hz. */
const gridHz = 150
/** Beyond this a voice is no longer a person's. */
const factorBounds = { min: 0.7, max: 1.4 }

export interface FormantShift {
  /** The rate that the engine's samples are taken to have. */
  readonly hz: number
  /** What the engine is to be told in place of the voice. */
  readonly voice: EngineVoice
}

export const formantShift = (engineOwnHz: number, voice: EngineVoice): FormantShift => {
  if (voice.formantPercent === 100) return { hz: engineOwnHz, voice }
  const asked = Math.max(factorBounds.min, Math.min(factorBounds.max, voice.formantPercent / 100))
  const hz = gridHz * Math.round((engineOwnHz * asked) / gridHz)
  const factor = hz / engineOwnHz
  return {
    hz,
    voice: { ...voice, ratePercent: voice.ratePercent / factor, pitchPercent: voice.pitchPercent / factor }
  }
}
