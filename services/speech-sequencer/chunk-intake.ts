/**
 * Takes in the frames of one chunk and returns its PCM in order, once. A chunk can be synthesized more than once, if a
 * synthesizer dies or is slow: frames are taken by position, whichever run they come from. Where one run continues
 * another, the two are cross-faded over 5 ms, because two runs of an engine are not bit-identical. The edges of a chunk
 * fade, so that no join of two chunks is a step.
 */
import { concatPcm, crossFade } from "#speech/audio"
import type { ChunkFrameHead, WordStart } from "#speech/contract"

export interface ChunkIntake {
  /** True if the frame brought anything new. */
  readonly accept: (head: ChunkFrameHead, pcm: Int16Array) => boolean
  /** The PCM that has settled since the last call. */
  readonly take: () => Int16Array
  readonly isComplete: () => boolean
  readonly words: () => ReadonlyArray<WordStart>
  /** The samples returned and held so far. */
  readonly samples: () => number
  /** One past the last audible sample. */
  readonly speechEnd: () => number
}

// 5 ms: long enough to hide a phase difference, too short to hear.
export const crossFadeSamples = 120
// 2 ms at both ends of a chunk, where engines are nearly silent.
const edgeFadeSamples = 48
// Anything below is inaudible: the noise floor of the engines is about 20.
const audible = 100

/** `settled` waits to be taken; `tail` is held back, because another run may have to be blended into it. */
interface Intake {
  readonly settled: Array<Int16Array>
  readonly words: Array<WordStart>
  tail: Int16Array
  /** Samples settled so far, including those already taken. */
  settledSamples: number
  run: string | undefined
  isComplete: boolean
  speechEnd: number
}

export const chunkIntake = (): ChunkIntake => {
  const intake: Intake = {
    settled: [],
    words: [],
    tail: new Int16Array(0),
    settledSamples: 0,
    run: undefined,
    isComplete: false,
    speechEnd: 0
  }
  return {
    accept: (head, pcm) => accept(intake, head, pcm),
    take: () => concatPcm(intake.settled.splice(0)),
    isComplete: () => intake.isComplete,
    words: () => intake.words,
    samples: () => endOf(intake),
    speechEnd: () => intake.speechEnd
  }
}

const endOf = ({ settledSamples, tail }: Intake) => settledSamples + tail.length

const accept = (intake: Intake, head: ChunkFrameHead, pcm: Int16Array): boolean => {
  const known = endOf(intake)
  const frameEnd = head.sample + pcm.length
  const isSame = intake.run === undefined || intake.run === head.run
  const needed = isSame ? known : intake.settledSamples
  // The frame lies behind a gap, or brings nothing new.
  if (intake.isComplete || head.sample > needed || (frameEnd <= needed && !head.isLast)) return false
  const fresh = pcm.subarray(Math.min(pcm.length, needed - head.sample))
  append(intake, isSame ? fresh : blended(intake.tail, fresh), known)
  intake.run = head.run
  for (const word of head.words) if (word.sample >= known || isSame) intake.words.push(word)
  if (head.isLast) finish(intake)
  return true
}

const append = (intake: Intake, pcm: Int16Array, from: number) => {
  for (let index = pcm.length - 1; index >= 0; index--) {
    if (Math.abs(pcm[index] ?? 0) <= audible) continue
    intake.speechEnd = Math.max(intake.speechEnd, from + index + 1)
    break
  }
  const all = concatPcm([intake.tail, pcm])
  const keep = Math.min(all.length, crossFadeSamples)
  settle(intake, all.subarray(0, all.length - keep))
  intake.tail = all.slice(all.length - keep)
}

/** Takes over the samples. */
const settle = (intake: Intake, pcm: Int16Array) => {
  if (pcm.length === 0) return
  const { settledSamples } = intake
  for (let index = 0; index < pcm.length && settledSamples + index < edgeFadeSamples; index++) {
    pcm[index] = Math.round(((pcm[index] ?? 0) * (settledSamples + index)) / edgeFadeSamples)
  }
  intake.settled.push(pcm)
  intake.settledSamples += pcm.length
}

const finish = (intake: Intake) => {
  intake.isComplete = true
  const { tail } = intake
  const { length } = tail
  const fade = Math.min(length, edgeFadeSamples)
  for (let index = length - fade; index < length; index++) {
    tail[index] = Math.round(((tail[index] ?? 0) * (length - 1 - index)) / fade)
  }
  intake.tail = new Int16Array(0)
  settle(intake, tail)
}

/** Blends the held tail into the same stretch of another run, and returns what follows it. */
const blended = (tail: Int16Array, pcm: Int16Array) => {
  tail.set(crossFade(tail, pcm))
  return pcm.subarray(Math.min(tail.length, pcm.length))
}
