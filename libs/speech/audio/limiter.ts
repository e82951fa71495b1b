/**
 * Makes speech louder without clipping it: over 2 ms before a peak that would not fit the gain is lowered, and it
 * recovers in some 50. What fits stays exact. The output has no delay against the input.
 */
import { clampSample } from "./samples.ts"

interface Limiter {
  /** Louder by so many decibels, which may differ from those before. */
  readonly push: (pcm: Int16Array, decibels: number) => Int16Array
  /** What still waited for later samples; the input has ended. */
  readonly flush: () => Int16Array
}

const aheadSeconds = 0.002
const releaseSeconds = 0.05
const ceiling = 32_768
/** A gain from here on cannot be told from 1. */
const recovered = 0.9999

export const makeLimiter = (hz: number): Limiter => {
  const ahead = Math.round(aheadSeconds * hz)
  const release = 1 - Math.exp(-1 / (releaseSeconds * hz))
  // Of the last samples: a sample gets their mean, so that at a peak all of them have been low enough.
  const gains = new Float64Array(ahead + 1).fill(1)
  let held = new Float64Array(0)
  let [at, gain, sum] = [0, 1, gains.length]

  /** The largest gains up to which the samples behind still fit; undefined if all fit as they are. */
  const largestGains = (samples: Float64Array) => {
    let largest: Float64Array | undefined
    for (let peak = 0; peak < samples.length; peak++) {
      const size = Math.abs(samples[peak] ?? 0)
      if (size <= ceiling) continue
      largest ??= new Float64Array(samples.length).fill(1)
      for (let before = Math.max(0, peak - ahead); before <= peak; before++) {
        largest[before] = Math.min(largest[before] ?? 1, ceiling / size)
      }
    }
    return largest
  }

  const limited = (samples: Float64Array, count: number) => {
    const out = new Int16Array(count)
    const largest = largestGains(samples)
    const isPlain = largest === undefined && gain > recovered
    for (let index = 0; index < count; index++) {
      if (!isPlain) {
        gain = Math.min(largest?.[index] ?? 1, gain + (1 - gain) * release)
        sum += gain - (gains[at] ?? 1)
        gains[at] = gain
        at = (at + 1) % gains.length
      }
      out[index] = clampSample((samples[index] ?? 0) * (isPlain ? 1 : sum / gains.length))
    }
    return out
  }

  return {
    push: (pcm, decibels) => {
      const factor = 10 ** (decibels / 20)
      const samples = new Float64Array(held.length + pcm.length)
      samples.set(held)
      for (let index = 0; index < pcm.length; index++) samples[held.length + index] = (pcm[index] ?? 0) * factor
      const count = Math.max(0, samples.length - ahead)
      held = samples.slice(count)
      return limited(samples, count)
    },
    flush: () => {
      const samples = held
      held = new Float64Array(0)
      return limited(samples, samples.length)
    }
  }
}
