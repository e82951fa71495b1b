/**
 * A job spoken by one of sherpa-onnx's models: passage by passage, each complete before its words are placed in it.
 * Higher is slower speech played faster, so the formants move along; the range of the melody is the model's own. A
 * cancelled job ends with the passage in progress.
 */
import { makeResampler } from "#speech/audio/resample"
import type { Outcome } from "../worker/protocol.ts"
import { type Passage, passagesOf, toPcm, wordAt } from "../worker/passages.ts"
import { endsWithPause, type Sink, type Speaker } from "../worker/serve.ts"
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
    let isAfterPause = true
    for (const [at, passage] of passages.entries()) {
      const isBeforePause = (at === passages.length - 1 && !job.goesOn) || endsWithPause(passage.text)
      const sound = soundOf(voice, passage, speaker)
      const pcm = trimmed(sound, { hz: voice.hz, isAfterPause, isBeforePause })
      for (const { position, sample } of placeWords({ text: passage.text, language, pcm, hz: voice.hz })) {
        sink.word(wordAt(passage, position, begun + sample))
      }
      if (!give(pcm, passage.gainDb, sink)) return null
      begun += pcm.length
      isAfterPause = isBeforePause
    }
    return null
  }
})

const noSuchSpeaker = (speaker: string): Outcome => ({
  kind: "failed",
  reason: "voice",
  detail: `the model has no speaker ${speaker}`
})

/** A tenth of a second at most, so that a cancelled job is noticed and the first frame is small. */
export const give = (pcm: Int16Array, gainDb: number, sink: Sink) => {
  const step = 2_400
  for (let at = 0; at < pcm.length; at += step) if (!sink.audio(pcm.slice(at, at + step), gainDb)) return false
  return true
}

/** A resampler's table stays small between rates on this grid. */
const gridHz = 150

const soundOf = (voice: NeuralVoice, { text, speed, pitch }: Passage, speaker: number): Int16Array => {
  const hz = pitch === 1 ? voice.hz : gridHz * Math.round((voice.hz * pitch) / gridHz)
  const samples = toPcm(voice.speak({ text, speed: (speed * voice.hz) / hz, speaker }))
  const resampler = makeResampler(hz, voice.hz)
  const [whole, rest] = [resampler.push(samples), resampler.flush()]
  if (rest.length === 0) return whole
  const joined = new Int16Array(whole.length + rest.length)
  joined.set(whole)
  joined.set(rest, whole.length)
  return joined
}

// 40 dB below full scale: the hiss of a model is below it, speech is above it.
const audible = 330
const marginSeconds = 0.03

export interface Edges {
  readonly hz: number
  readonly isAfterPause: boolean
  readonly isBeforePause: boolean
}

/** Without the silence at the edges that lie within a sentence. Pure. */
export const trimmed = (pcm: Int16Array, edges: Edges): Int16Array => {
  const { from, to } = trimmedTo(pcm, edges)
  return pcm.slice(from, to)
}

/** The remaining range, in samples. Pure. */
export const trimmedTo = (pcm: Int16Array, { hz, isAfterPause, isBeforePause }: Edges) => {
  const margin = Math.round(marginSeconds * hz)
  const isAudible = (sample: number) => Math.abs(sample) > audible
  const from = isAfterPause ? 0 : Math.max(0, pcm.findIndex(isAudible) - margin)
  const to = isBeforePause ? pcm.length : Math.min(pcm.length, pcm.findLastIndex(isAudible) + margin)
  return { from, to: Math.max(from, to) }
}
