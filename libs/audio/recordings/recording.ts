/** A decoded recording: its samples, and how well it was recorded, as far as the samples tell. */
import { RecordingUnusable } from "../errors.ts"

/** Wide enough for recognisers and speaker checks. */
export const recordingHz = 16_000

interface RecordingLevels {
  /** Share of the time, 0 to 1, that is silence: 35 dB below the loud parts, or below -50 dBFS. */
  readonly silenceRatio: number
  /** Share of the samples, 0 to 1, at full scale beside another one at full scale. */
  readonly clippingRatio: number
}

export interface Recording {
  /** Mono, at `recordingHz`. */
  readonly samples: Int16Array
  /** The length of the decoded samples, whatever the file announces. */
  readonly seconds: number
  readonly levels: RecordingLevels
}

/** The requirements of a usable recording. */
export interface RecordingLimits {
  /** The caller's name for it in errors: `sample`, `consent_recording`. */
  readonly name: string
  readonly secondsMin: number
  readonly secondsMax: number
  readonly silenceRatioMax: number
  readonly clippingRatioMax: number
}

/** The first fault of its length or levels, or null. Pure. */
export const judgeRecording = (
  { seconds, levels }: Pick<Recording, "seconds" | "levels">,
  limits: RecordingLimits
): RecordingUnusable | null => {
  const { name, secondsMin, secondsMax, silenceRatioMax, clippingRatioMax } = limits
  const unusable = (reason: RecordingUnusable["reason"], detail: string) =>
    new RecordingUnusable({ name, reason, detail })
  const lengths = `between ${secondsMin} and ${secondsMax} seconds are needed`
  // Decoding stops a little past the limit, so the whole length is unknown.
  if (seconds > secondsMax) return unusable("too_long", `it is longer than ${secondsMax} seconds; ${lengths}`)
  if (seconds < secondsMin) return unusable("too_short", `it is ${seconds.toFixed(1)} seconds long; ${lengths}`)
  if (levels.silenceRatio > silenceRatioMax) {
    return unusable(
      "silent",
      `${percent(levels.silenceRatio)} of it is silence; ${percent(silenceRatioMax)} at most may be`
    )
  }
  if (levels.clippingRatio > clippingRatioMax) {
    return unusable("clipped", `it is too loud: ${percent(levels.clippingRatio)} of it is cut off at full scale`)
  }
  return null
}

const percent = (ratio: number) => `${(ratio * 100).toFixed(1)} %`

const frameMs = 20
const silentDbfs = -50
/** This far below the loud parts even the quiet sounds of speech are over. */
const silentBelowLoudDb = 35
/** Encoding and resampling blur the ceiling a little. */
const fullScale = 32_500
const full = 32_768

/** The shares of silence and of clipped samples in a recording. Pure, linear in its length. */
export const measureLevels = (samples: Int16Array, sampleRateHz: number): RecordingLevels => {
  const frames = framePowers(samples, Math.round((sampleRateHz * frameMs) / 1_000))
    .map(dbOfPower)
    .toSorted((a, b) => a - b)
  const loud = frames[Math.floor(0.95 * (frames.length - 1))] ?? -Infinity
  const threshold = Math.max(silentDbfs, loud - silentBelowLoudDb)
  const silent = frames.filter((db) => db < threshold).length
  return {
    silenceRatio: frames.length === 0 ? 1 : silent / frames.length,
    clippingRatio: clippedSamples(samples) / Math.max(1, samples.length)
  }
}

/** The lowest level that 16 bits can distinguish from silence. */
const floorDbfs = -96
const dbOfPower = (power: number) => Math.max(floorDbfs, 10 * Math.log10(power / full ** 2))

const framePowers = (samples: Int16Array, frameSamples: number): Array<number> => {
  const powers: Array<number> = []
  for (let from = 0; from + frameSamples <= samples.length; from += frameSamples) {
    let sum = 0
    for (let index = from; index < from + frameSamples; index++) sum += (samples[index] ?? 0) ** 2
    powers.push(sum / frameSamples)
  }
  return powers
}

/** A single sample at full scale is a peak, two in a row are a plateau. */
const clippedSamples = (samples: Int16Array) => {
  let [clipped, wasFull] = [0, false]
  for (const sample of samples) {
    const isFull = Math.abs(sample) >= fullScale
    if (isFull && wasFull) clipped += 1
    wasFull = isFull
  }
  return clipped
}
