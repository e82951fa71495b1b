/** How loud a recording is, how much of it is silence, how much was cut off. Pure, linear in its length. */
import type { RecordingLevels } from "./recording.ts"

const frameMs = 20
const silentDbfs = -50
/** So far below the loud parts even the quiet sounds of speech are over. */
const silentBelowLoudDb = 35
/** Encoding and resampling blur the ceiling a little. */
const fullScale = 32_500
const full = 32_768

export const measureLevels = (samples: Int16Array, sampleRateHz: number): RecordingLevels => {
  const frames = framePowers(samples, Math.round((sampleRateHz * frameMs) / 1_000))
    .map(dbOfPower)
    .toSorted((a, b) => a - b)
  const at = (share: number) => frames[Math.floor(share * (frames.length - 1))] ?? -Infinity
  const loud = at(0.95)
  const threshold = Math.max(silentDbfs, loud - silentBelowLoudDb)
  const silent = frames.filter((db) => db < threshold).length
  return {
    ...wholeOf(samples),
    silenceRatio: frames.length === 0 ? 1 : silent / frames.length,
    snrDb: frames.length === 0 ? 0 : loud - Math.max(at(0.1), floorDbfs)
  }
}

/** What 16 bits can tell from nothing. */
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

const wholeOf = (samples: Int16Array) => {
  let [sum, peak, clipped, wasFull] = [0, 0, 0, false]
  for (const sample of samples) {
    const size = Math.abs(sample)
    const isFull = size >= fullScale
    sum += size * size
    if (size > peak) peak = size
    // A single one is a peak, two in a row are a plateau.
    if (isFull && wasFull) clipped += 1
    wasFull = isFull
  }
  const length = Math.max(1, samples.length)
  return {
    rmsDbfs: 10 * Math.log10(sum / length / full ** 2),
    peakDbfs: 20 * Math.log10(peak / full),
    clippingRatio: clipped / length
  }
}
