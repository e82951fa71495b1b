/**
 * A job spoken by a neural model with the voice of a recording. Pitch and its range are the reference's and cannot be
 * requested. The model reports no words; the aligner places them. A cancelled job ends with the sentence in progress.
 */
import type { Outcome } from "../worker/protocol.ts"
import { type Passage, passagesOf, toPcm } from "../worker/passages.ts"
import type { Sink, Speaker } from "../worker/serve.ts"
import type { NeuralVoice } from "./tts.ts"

/**
 * Speaks with the voice of a recording. Pitch and its range are the recording's and cannot be requested. The model reports
 * no words; the aligner places them. A cancelled job ends with the sentence in progress.
 */
export const makeZeroShotSpeaker = (voice: NeuralVoice): Speaker => ({
  hz: voice.hz,
  firstVoice: null,
  speak: (job, sink) => {
    const { samples } = job.reference ?? {}
    const text = job.voice.engine === "zero-shot" && "reference" in job.voice ? job.voice.reference.text : undefined
    if (samples === undefined || text === undefined) return noReference
    const say = (passage: Passage) => sayPassage(voice, passage, { samples, text }, sink)
    return passagesOf(job, false)
      .reduce((before, passage) => before.then((isWanted) => (isWanted ? say(passage) : false)), Promise.resolve(true))
      .then(() => null)
  }
})

const noReference: Outcome = { kind: "failed", reason: "voice", detail: "a job without the recording of its voice" }

const sayPassage = (
  voice: NeuralVoice,
  { text, speed, gainDb }: Passage,
  reference: { readonly samples: Int16Array; readonly text: string },
  sink: Sink
) => {
  let given = 0
  let isWanted = true
  const give = (samples: Float32Array) => {
    given += samples.length
    isWanted &&= sink.audio(toPcm(samples), gainDb)
    return isWanted
  }
  return voice.generate({ text, speed, reference, onSamples: give }).then((all) => {
    if (isWanted && all.length > given) give(all.subarray(given))
    return isWanted
  })
}
