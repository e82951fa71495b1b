/** PCM of the fleet as PCM, mu-law or WAV of another rate, in this process: a pure function over pieces. */
import { type AudioFormat, fleetRateHz, paddedSamples } from "./formats.ts"
import { encodeMulaw } from "./g711.ts"
import { concatPcm, pcmToBytes } from "./pcm.ts"
import { makeResampler } from "./resample.ts"

export interface PaddedResampler {
  readonly push: (pcm: Int16Array) => Int16Array
  /** The rest, with silence up to the format's grid. */
  readonly end: () => Int16Array
}

/** The fleet's PCM at another rate, as long as the format's grid wants it. */
export const paddedResampler = (format: AudioFormat): PaddedResampler => {
  const resampler = makeResampler(fleetRateHz, format.sampleRateHz)
  let total = 0
  return {
    push: (pcm) => {
      total += pcm.length
      return resampler.push(pcm)
    },
    end: () => {
      const silence = resampler.push(new Int16Array(paddedSamples(format, total) - total))
      return concatPcm([silence, resampler.flush()])
    }
  }
}

export interface Transcoder {
  readonly push: (pcm: Int16Array) => Uint8Array
  readonly end: () => Uint8Array
}

export const makeTranscoder = (format: AudioFormat): Transcoder => {
  const resampler = paddedResampler(format)
  const toBytes = format.codec === "ulaw" ? encodeMulaw : pcmToBytes
  return { push: (pcm) => toBytes(resampler.push(pcm)), end: () => toBytes(resampler.end()) }
}
