/**
 * A job spoken by a neural model. Neighbouring pieces of one pace and loudness are spoken together, because a model
 * needs a whole sentence to find its melody. Pitch and its range are the reference's and cannot be requested. The model
 * reports no words; the aligner places them. A cancelled job ends with the sentence in progress.
 */
import type { EngineJob } from "../Engine.ts"
import type { Outcome } from "../worker/protocol.ts"
import { type Sink, type Speaker, withoutControls } from "../worker/speaker.ts"
import type { NeuralVoice } from "./sherpa.ts"

interface Passage {
  readonly text: string
  readonly speed: number
  readonly gainDb: number
}

const speedReach = { min: 0.5, max: 2 }

export const makeZeroShotSpeaker = (voice: NeuralVoice): Speaker => ({
  hz: voice.hz,
  firstVoice: null,
  speak: (job, sink) => {
    const { samples } = job.reference ?? {}
    const text = job.voice.engine === "zero-shot" ? job.voice.reference.text : undefined
    if (samples === undefined || text === undefined) return noReference
    const say = (passage: Passage) => sayPassage(voice, passage, { samples, text }, sink)
    return passagesOf(job)
      .reduce((before, passage) => before.then((goesOn) => (goesOn ? say(passage) : false)), Promise.resolve(true))
      .then(() => null)
  }
})

const noReference: Outcome = { kind: "failed", reason: "voice", detail: "a job without the recording of its voice" }

/** A piece without anything to say is left out: a model would make a sound of it. */
export const passagesOf = ({ voice, pieces }: EngineJob): ReadonlyArray<Passage> => {
  const passages: Array<Passage> = []
  for (const piece of pieces) {
    const rate = (voice.ratePercent * piece.ratePercent) / 10_000
    const speed = Math.max(speedReach.min, Math.min(speedReach.max, rate))
    const gainDb = voice.gainDb + piece.volumeDb
    const before = passages.at(-1)
    const text = withoutControls(piece.text)
    if (before?.speed === speed && before.gainDb === gainDb) {
      passages[passages.length - 1] = { ...before, text: before.text + text }
    } else passages.push({ text, speed, gainDb })
  }
  return passages.filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
}

const sayPassage = (
  voice: NeuralVoice,
  { text, speed, gainDb }: Passage,
  reference: { readonly samples: Int16Array; readonly text: string },
  sink: Sink
) => {
  let given = 0
  let goesOn = true
  const give = (samples: Float32Array) => {
    given += samples.length
    goesOn &&= sink.audio(toPcm(samples), gainDb)
    return goesOn
  }
  return voice.generate({ text, speed, reference, onSamples: give }).then((all) => {
    if (goesOn && all.length > given) give(all.subarray(given))
    return goesOn
  })
}

const toPcm = (samples: Float32Array) =>
  Int16Array.from(samples, (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767))
