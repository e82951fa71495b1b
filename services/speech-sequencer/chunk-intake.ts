/**
 * Takes in the frames of one chunk and gives out its PCM in order, once. A chunk may be synthesized more
 * than once, when a synthesizer dies or is slow: frames are taken by their position, whichever run they come
 * from, and where one run goes on from another the two are cross-faded over 5 ms, for two runs of an engine
 * are not the same to the bit. The edges of a chunk fade, so that no join of two chunks is a step.
 */
import type { ChunkFrameHead } from "#contracts"

export interface ChunkWord {
  readonly piece: number
  readonly position: number
  readonly sample: number
}

export interface ChunkIntake {
  /** Answers whether the frame brought anything new. */
  readonly accept: (head: ChunkFrameHead, pcm: Int16Array) => boolean
  /** The PCM that is settled since the last call. */
  readonly take: () => Int16Array
  readonly isComplete: () => boolean
  readonly words: () => ReadonlyArray<ChunkWord>
  /** Samples given out and held. */
  readonly samples: () => number
  /** One past the last sample that can be heard. */
  readonly speechEnd: () => number
}

// 5 ms: long enough to hide a difference of phase, too short to hear.
export const crossFadeSamples = 120
// 2 ms at both ends of a chunk, where engines are all but silent.
const edgeFadeSamples = 48
// Below this nothing is heard: the noise floor of the engines is about 20.
const audible = 100

export const chunkIntake = (): ChunkIntake => {
  const settled: Array<Int16Array> = []
  const words: Array<ChunkWord> = []
  let tail = new Int16Array(0)
  let settledSamples = 0
  let run: string | undefined
  let complete = false
  let speechEnd = 0

  const end = () => settledSamples + tail.length

  const append = (pcm: Int16Array, from: number) => {
    for (let index = pcm.length - 1; index >= 0; index--) {
      if (Math.abs(pcm[index] ?? 0) <= audible) continue
      speechEnd = Math.max(speechEnd, from + index + 1)
      break
    }
    const all = new Int16Array(tail.length + pcm.length)
    all.set(tail)
    all.set(pcm, tail.length)
    const keep = Math.min(all.length, crossFadeSamples)
    settle(all.subarray(0, all.length - keep))
    tail = all.slice(all.length - keep)
  }

  const settle = (pcm: Int16Array) => {
    if (pcm.length === 0) return
    const copy = pcm.slice()
    for (let index = 0; index < copy.length && settledSamples + index < edgeFadeSamples; index++) {
      copy[index] = Math.round(((copy[index] ?? 0) * (settledSamples + index)) / edgeFadeSamples)
    }
    settled.push(copy)
    settledSamples += copy.length
  }

  const finish = () => {
    complete = true
    const length = tail.length
    const fade = Math.min(length, edgeFadeSamples)
    for (let index = length - fade; index < length; index++) {
      tail[index] = Math.round(((tail[index] ?? 0) * (length - 1 - index)) / fade)
    }
    const rest = tail
    tail = new Int16Array(0)
    settle(rest)
  }

  /** Blends the held tail into the same stretch of another run, and answers with what comes after it. */
  const crossFade = (pcm: Int16Array) => {
    const length = Math.min(tail.length, pcm.length)
    for (let index = 0; index < length; index++) {
      const share = (index + 1) / (length + 1)
      tail[index] = Math.round((tail[index] ?? 0) * (1 - share) + (pcm[index] ?? 0) * share)
    }
    return pcm.subarray(length)
  }

  return {
    accept: (head, pcm) => {
      const frameEnd = head.sample + pcm.length
      const isSame = run === undefined || run === head.run
      const needed = isSame ? end() : settledSamples
      // Behind a gap, or nothing that is not here already.
      if (complete || head.sample > needed || (frameEnd <= needed && !head.isLast)) return false
      const known = end()
      const fresh = pcm.subarray(Math.min(pcm.length, needed - head.sample))
      append(isSame ? fresh : crossFade(fresh), known)
      run = head.run
      for (const word of head.words) if (word.sample >= known || isSame) words.push(word)
      if (head.isLast) finish()
      return true
    },
    take: () => joined(settled.splice(0)),
    isComplete: () => complete,
    words: () => words,
    samples: end,
    speechEnd: () => speechEnd
  }
}

const joined = (parts: ReadonlyArray<Int16Array>) => {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
