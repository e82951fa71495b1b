/**
 * Makes frames of an engine's small callbacks: the first samples leave at once, later frames double from 100 ms up to 1
 * s, so that a listener starts early and a long text costs few messages. A word leaves with the frame in which it
 * begins, although engines report it earlier.
 */
import type { WordStart } from "#contracts"
import type { EngineFrame } from "../Engine.ts"
import { engineHz } from "./protocol.ts"

const secondFrame = engineHz / 10
const frameMax = engineHz

interface FrameBatcher {
  readonly word: (word: WordStart) => void
  readonly audio: (pcm: Int16Array) => void
  /** Sends the remaining samples. */
  readonly end: () => void
  /** Samples taken in so far. */
  readonly samples: () => number
}

export const makeFrameBatcher = (send: (frame: EngineFrame) => void): FrameBatcher => {
  let target = 0
  let held: Array<Int16Array> = []
  let heldLength = 0
  let samples = 0
  let words: Array<WordStart> = []

  const sendHeld = (isLast: boolean) => {
    const begun = isLast
      ? words.map((word) => ({ ...word, sample: Math.min(word.sample, samples) }))
      : words.filter((word) => word.sample < samples)
    words = isLast ? [] : words.filter((word) => word.sample >= samples)
    send({ pcm: joined(held, heldLength), words: begun })
    held = []
    heldLength = 0
    target = target === 0 ? secondFrame : Math.min(frameMax, target * 2)
  }

  return {
    word: (word) => void words.push(word),
    audio: (pcm) => {
      if (pcm.length === 0) return
      held.push(pcm)
      heldLength += pcm.length
      samples += pcm.length
      if (heldLength >= target) sendHeld(false)
    },
    end: () => {
      if (heldLength > 0 || words.length > 0) sendHeld(true)
    },
    samples: () => samples
  }
}

/** Always a buffer of its own, because it is handed over to another thread. */
const joined = (runs: ReadonlyArray<Int16Array>, length: number) => {
  const whole = new Int16Array(length)
  let at = 0
  for (const run of runs) {
    whole.set(run, at)
    at += run.length
  }
  return whole
}
