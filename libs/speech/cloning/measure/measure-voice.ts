/**
 * The traits of a speech sample: pure, some four milliseconds of work for each of its seconds. It needs three seconds
 * of voice; a sample with less, a whisper or music, fails, and `TooLittleVoice` carries the figures.
 */
import { resample } from "#speech/audio/resample"
import type { VoiceTraits } from "#speech/contract"
import { formantScale, vocalEnvelope } from "./formants.ts"
import { frameLevels, hopSeconds, isVoiced, pitchTrack, quantile, voiceHz } from "./pitch-track.ts"

/** With less, a median is not reliable. */
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

/** The mean power of everything except pauses. */
const speechLevel = (pcm: Int16Array, rateHz: number) => {
  const levels = frameLevels(resample(pcm, rateHz, voiceHz), voiceHz, 0.04)
  const floor = (quantile(levels, 0.95) ?? -100) - 20
  const spoken = levels.filter((level) => level > floor)
  return 10 * Math.log10(spoken.reduce((sum, level) => sum + 10 ** (level / 10), 0) / Math.max(1, spoken.length))
}

const windowSeconds = 0.04
/** A peak more than this below the loud parts is not a syllable. */
const belowLoudDb = 25
/** How far the loudness must have fallen between two syllables. */
const dipDb = 2
/** A silence of at least this length is a pause and not part of the speech. */
const pauseSeconds = 0.25

interface Articulation {
  readonly syllables: number
  /** Without pauses. */
  readonly spokenSeconds: number
}

/**
 * The rate of speech. A syllable is a voiced peak of loudness that rises clearly out of the dips around it (as in de
 * Jong and Wempe 2009); their number is divided by the time of speech. `track` is the pitch of the same samples.
 */
export const countSyllables = (pcm: Int16Array, hz: number, track: Float64Array): Articulation => {
  const levels = smoothed(frameLevels(resample(pcm, hz, voiceHz), voiceHz, windowSeconds))
  const threshold = (quantile(levels, 0.99) ?? 0) - belowLoudDb
  let syllables = 0
  let isRising = false
  let [extreme, extremeAt] = [levels[0] ?? 0, 0]
  for (const [frame, level] of levels.entries()) {
    if (isRising ? level > extreme : level < extreme) [extreme, extremeAt] = [level, frame]
    if (Math.abs(level - extreme) < dipDb) continue
    // The loudness turned: behind it is a dip, or a peak, which counts if it was loud enough and voiced.
    if (isRising && extreme > threshold && isVoicedAround(track, extremeAt)) syllables += 1
    isRising = !isRising
    ;[extreme, extremeAt] = [level, frame]
  }
  return { syllables, spokenSeconds: spokenFrames(levels, threshold) * hopSeconds }
}

const smoothed = (levels: Float64Array) =>
  levels.map((level, at) => ((levels[at - 1] ?? level) + level + (levels[at + 1] ?? level)) / 3)

const isVoicedAround = (track: Float64Array, frame: number) =>
  track.subarray(Math.max(0, frame - 5), frame + 6).some(isVoiced)

const spokenFrames = (levels: Float64Array, threshold: number) => {
  const pauseFrames = pauseSeconds / hopSeconds
  let [spoken, silent] = [0, pauseFrames]
  for (const level of levels) {
    if (level > threshold) {
      // A short silence belongs to the speech around it.
      spoken += 1 + (silent < pauseFrames ? silent : 0)
      silent = 0
    } else silent += 1
  }
  return spoken
}
