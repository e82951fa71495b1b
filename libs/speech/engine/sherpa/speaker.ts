/**
 * A job spoken by one of sherpa-onnx's models: passage by passage, each complete before its words are placed in it.
 * Higher is slower speech played faster, so the formants move along; the range of the melody is the model's own. A
 * cancelled job ends with the passage in progress.
 */
import { makeResampler } from "#speech/audio/resample"
import type { Outcome } from "../worker/protocol.ts"
import { type Passage, passagesOf, toPcm, wordAt } from "../worker/passages.ts"
import { endPause, paced, pauseBefore } from "../worker/pauses.ts"
import { joined, type Sink, type Speaker } from "../worker/serve.ts"
import type { NeuralVoice } from "./tts.ts"

/** Where the words of a text start in its audio: positions in the text, and samples. */
export type PlaceWords = (spoken: {
  readonly text: string
  readonly language: string
  readonly pcm: Int16Array
  readonly hz: number
}) => ReadonlyArray<{ readonly position: number; readonly sample: number }>

export const makeSherpaSpeaker = (voice: NeuralVoice, placeWords: PlaceWords): Speaker => ({
  hz: voice.hz,
  firstVoice: "0",
  warmUps: 1,
  speak: (job, sink) => {
    const speaker = Number(job.voice.name)
    if (!Number.isInteger(speaker) || speaker >= Math.max(1, voice.speakers)) return noSuchSpeaker(job.voice.name)
    const language = "language" in job.voice ? job.voice.language : "en-us"
    const passages = passagesOf(job)
    let begun = 0
    for (const [at, passage] of passages.entries()) {
      const pcm = soundOf(voice, passage, speaker)
      const words = placeWords({ text: passage.text, language, pcm, hz: voice.hz })
      const isLast = at === passages.length - 1 && !job.goesOn
      const given = give({ passage, pcm, words, hz: voice.hz, begun, isLast }, sink)
      if (given === undefined) return null
      begun += given
    }
    return null
  }
})

const noSuchSpeaker = (speaker: string): Outcome => ({
  kind: "failed",
  reason: "voice",
  detail: `the model has no speaker ${speaker}`
})

interface SpokenPassage {
  readonly passage: Passage
  /** The speed at which this sound is, 1 if absent. */
  readonly ownSpeed?: number
  readonly pcm: Int16Array
  readonly words: ReturnType<PlaceWords>
  readonly hz: number
  /** Samples of the job before it. */
  readonly begun: number
  /** Nothing follows in the same sentence. */
  readonly isLast: boolean
}

/** Returns the number of samples given; undefined if nobody listens any more. */
export const give = ({ passage, ownSpeed = 1, pcm, words, hz, begun, isLast }: SpokenPassage, sink: Sink) => {
  const { text } = passage
  const utterance = paced(sink, { hz, passage, ownSpeed, begun, endPause: endPause(text, isLast) })
  for (const { position, sample } of words) {
    utterance.word(wordAt(passage, position, sample), pauseBefore(text, position))
  }
  // A tenth of a second at most, so that a cancelled job is noticed and the first frame is small.
  const step = 2_400
  for (let at = 0; at < pcm.length; at += step) if (!utterance.audio(pcm.subarray(at, at + step))) return undefined
  return utterance.end() ? utterance.samples() : undefined
}

/** A resampler's table stays small between rates on this grid. */
const gridHz = 150

const soundOf = (voice: NeuralVoice, { text, pitch }: Passage, speaker: number): Int16Array => {
  const hz = pitch === 1 ? voice.hz : gridHz * Math.round((voice.hz * pitch) / gridHz)
  const samples = toPcm(voice.speak({ text, speed: voice.hz / hz, speaker }))
  const resampler = makeResampler(hz, voice.hz)
  const parts = [resampler.push(samples), resampler.flush()]
  return joined(
    parts,
    parts.reduce((sum, { length }) => sum + length, 0)
  )
}
