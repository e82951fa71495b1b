/**
 * What a sample of somebody's speech is like: pure, some twelve milliseconds of work for each of its seconds. It
 * needs three seconds of voice; what has less, a whisper or music, is told apart by `TooLittleVoice`'s figures.
 */
import type { VoiceTraits } from "#contracts"
import { formantScale } from "./formant-scale.ts"
import { atRate, frameLevels, hopSeconds, quantile, voiceHz } from "./frames.ts"
import { isVoiced, pitchTrack } from "./pitch-track.ts"
import { countSyllables } from "./syllables.ts"
import { vocalEnvelope } from "./vocal-envelope.ts"

/** Less says nothing reliable of a median. */
export const voicedSecondsMin = 3

export type Measured =
  | { readonly kind: "measured"; readonly traits: VoiceTraits }
  | { readonly kind: "too_little_voice"; readonly voicedSeconds: number }

/** `pcm` is mono; its rate at least 10,000 Hz. */
export const measureVoice = (pcm: Int16Array, rateHz: number): Measured => {
  const track = pitchTrack(pcm, rateHz)
  const pitches = track.filter(isVoiced)
  const voicedSeconds = tenth(pitches.length * hopSeconds)
  const envelope = vocalEnvelope(pcm, rateHz, track)
  if (voicedSeconds < voicedSecondsMin || envelope === undefined) return { kind: "too_little_voice", voicedSeconds }
  const pitchAt = (share: number) => quantile(pitches, share) ?? 0
  const { syllables, spokenSeconds } = countSyllables(pcm, rateHz, track)
  return {
    kind: "measured",
    traits: {
      medianPitchHz: tenth(pitchAt(0.5)),
      pitchRangeSemitones: tenth(12 * Math.log2(pitchAt(0.9) / pitchAt(0.1))),
      syllablesPerSecond: tenth(spokenSeconds > 0 ? syllables / spokenSeconds : 0),
      formantPercent: formantScale(envelope),
      speechLevelDbfs: tenth(speechLevel(pcm, rateHz))
    }
  }
}

const tenth = (value: number) => Math.round(value * 10) / 10

/** The mean power of all that is no pause. */
const speechLevel = (pcm: Int16Array, rateHz: number) => {
  const levels = frameLevels(atRate(pcm, rateHz, voiceHz), voiceHz, 0.04)
  const floor = (quantile(levels, 0.95) ?? -100) - 20
  const spoken = levels.filter((level) => level > floor)
  return 10 * Math.log10(spoken.reduce((sum, level) => sum + 10 ** (level / 10), 0) / Math.max(1, spoken.length))
}
