/**
 * A job spoken by a neural model with the voice of a recording. Pitch and its range are the reference's and cannot be
 * requested. The model reports no words; the aligner places them. A cancelled job ends with the sentence in progress.
 */
import type { Outcome } from "../worker/protocol.ts"
import { type Passage, passagesOf, toPcm } from "../worker/passages.ts"
import { endPause, paced } from "../worker/pauses.ts"
import type { Sink, Speaker } from "../worker/serve.ts"
import type { NeuralVoice } from "./tts.ts"

export const makeZeroShotSpeaker = (voice: NeuralVoice): Speaker => ({
  hz: voice.hz,
  firstVoice: null,
  speak: (job, sink) => {
    const { samples } = job.reference ?? {}
    const text = job.voice.engine === "zero-shot" && "reference" in job.voice ? job.voice.reference.text : undefined
    if (samples === undefined || text === undefined) return noReference
    const passages = passagesOf(job, false)
    const say = (passage: Passage, at: number) =>
      sayPassage(voice, { passage, isLast: at === passages.length - 1 && !job.goesOn }, { samples, text }, sink)
    return passages
      .reduce((before, passage, at) => before.then((isWanted) => isWanted && say(passage, at)), Promise.resolve(true))
      .then(() => null)
  }
})

const noReference: Outcome = { kind: "failed", reason: "voice", detail: "a job without the recording of its voice" }

const sayPassage = (
  voice: NeuralVoice,
  { passage, isLast }: { readonly passage: Passage; readonly isLast: boolean },
  reference: { readonly samples: Int16Array; readonly text: string },
  sink: Sink
) => {
  const { text } = passage
  const utterance = paced(sink, { hz: voice.hz, passage, begun: 0, endPause: endPause(text, isLast) })
  let given = 0
  const give = (samples: Float32Array) => {
    given += samples.length
    return utterance.audio(toPcm(samples))
  }
  return voice.generate({ text, speed: 1, reference, onSamples: give }).then((all) => {
    if (all.length > given) give(all.subarray(given))
    return utterance.end()
  })
}
