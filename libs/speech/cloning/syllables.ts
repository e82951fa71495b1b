/**
 * How fast somebody speaks: syllables are counted where a voiced peak of loudness rises clearly out of the dips
 * around it (as de Jong and Wempe 2009 do), and held against the time in which something is said. Pure.
 */
import { atRate, frameLevels, hopSeconds, quantile, voiceHz } from "./frames.ts"
import { isVoiced } from "./pitch-track.ts"

const windowSeconds = 0.04
/** A peak lower than this below the loud parts is no syllable. */
const belowLoudDb = 25
/** How far the loudness must have fallen between two syllables. */
const dipDb = 2
/** A silence at least so long is a pause and no part of the speech. */
const pauseSeconds = 0.25

export interface Articulation {
  readonly syllables: number
  /** Pauses left out. */
  readonly spokenSeconds: number
}

/** `track` is the pitch of the same samples. */
export const countSyllables = (pcm: Int16Array, hz: number, track: Float64Array): Articulation => {
  const levels = smoothed(frameLevels(atRate(pcm, hz, voiceHz), voiceHz, windowSeconds))
  const threshold = (quantile(levels, 0.99) ?? 0) - belowLoudDb
  let syllables = 0
  let isRising = false
  let [extreme, extremeAt] = [levels[0] ?? 0, 0]
  for (const [frame, level] of levels.entries()) {
    if (isRising ? level > extreme : level < extreme) [extreme, extremeAt] = [level, frame]
    if (Math.abs(level - extreme) < dipDb) continue
    // It turned: behind lies a dip, or a peak, which counts if it was loud enough and voice.
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
