/** PCM on its way out, in order, with where it stands on the timeline and which chunk it belongs to. No IO. */
import { speechSampleRateHz } from "#contracts"

export interface TakenPcm {
  readonly pcm: Int16Array
  /** Of the first sample, on the timeline. */
  readonly sample: number
  readonly chunk: number
  /** Where that chunk begins on the timeline, the pause before it included. */
  readonly start: number
}

export interface PcmQueue {
  /** What is pushed from now on belongs to this chunk. */
  readonly begin: (chunk: number) => void
  readonly push: (pcm: Int16Array) => void
  readonly silence: (milliseconds: number) => void
  /** At most `samplesMax` samples of one chunk. */
  readonly take: (samplesMax: number) => TakenPcm | undefined
  readonly position: () => number
  readonly end: () => number
  readonly waiting: () => number
}

interface Waiting {
  pcm: Int16Array
  readonly chunk: number
  readonly start: number
}

/** `startSample`: where on the timeline the first push stands; what lies before `fromSample` is left out. */
export const pcmQueue = (startSample: number, fromSample: number): PcmQueue => {
  const waiting: Array<Waiting> = []
  let end = startSample
  let position = Math.max(startSample, fromSample)
  let chunk = 0
  let start = startSample

  const push = (pcm: Int16Array) => {
    if (pcm.length === 0) return
    const skipped = Math.min(pcm.length, Math.max(0, fromSample - end))
    end += pcm.length
    if (skipped < pcm.length) waiting.push({ pcm: pcm.subarray(skipped), chunk, start })
  }

  return {
    begin: (next) => {
      chunk = next
      start = end
    },
    push,
    silence: (milliseconds) => push(new Int16Array(Math.round((milliseconds * speechSampleRateHz) / 1_000))),
    take: (samplesMax) => {
      const [first] = waiting
      if (first === undefined || samplesMax <= 0) return undefined
      const pcm = first.pcm.subarray(0, samplesMax)
      if (pcm.length === first.pcm.length) waiting.shift()
      else first.pcm = first.pcm.subarray(samplesMax)
      const sample = position
      position += pcm.length
      return { pcm, sample, chunk: first.chunk, start: first.start }
    },
    position: () => position,
    end: () => end,
    waiting: () => Math.max(0, end - position)
  }
}
