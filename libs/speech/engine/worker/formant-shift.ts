/**
 * A longer or shorter vocal tract: the engine speaks slower and lower, or faster and higher, by a factor, and its
 * samples are played as if taken at a rate higher or lower by the same factor. Pitch and pace come out as asked, and
 * the formants have moved. Pure.
 */
import type { EngineVoice } from "#contracts"

/** The rates between which a resampler's table stays small: a hundred and sixty phases to the fleet's 24,000 Hz. */
const gridHz = 150
/** Beyond these bounds a voice no longer sounds like a person's. */
const factorBounds = { min: 0.7, max: 1.4 }

export interface FormantShift {
  /** The rate that the engine's samples are taken to have. */
  readonly hz: number
  /** The voice that the engine gets in place of the requested one. */
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
