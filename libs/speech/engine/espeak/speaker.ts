/**
 * A job spoken by espeak-ng: one call per piece, its style set before it. A piece ends with a pause when the job
 * ends with it or when its own text does; otherwise the next piece follows at once, as inside a sentence.
 */
import type { EngineJob } from "../Engine.ts"
import type { Outcome } from "../worker/protocol.ts"
import { codePointStarts, endsWithPause, withoutControls } from "../worker/spoken-text.ts"
import type { Sink, Speaker } from "../worker/speaker.ts"
import type { Espeak, EspeakEvent } from "./binding.ts"
import { espeakParameters } from "./parameters.ts"
import { makeSettle } from "./settle.ts"

const wordEvent = 1
/** A language with an optional variant; nothing that could be a path. */
const voiceName = /^[a-z0-9-]{1,32}(?:\+[A-Za-z0-9-]{1,32})?$/u

export const makeEspeakSpeaker = (espeak: Espeak): Speaker => ({
  hz: espeak.hz,
  firstVoice: "en-us",
  speak: (job, sink) => {
    if (!voiceName.test(job.voice.name) || !espeak.setVoice(job.voice.name)) return noSuchVoice(job)
    espeak.setParameter("volume", 100)
    let begun = 0
    for (const index of job.pieces.keys()) {
      const spoken = speakPiece(espeak, job, index, begun, sink)
      if (!spoken.isComplete) return null
      begun += spoken.samples
    }
    return null
  },
  settle: makeSettle(espeak)
})

const noSuchVoice = (job: EngineJob): Outcome => ({
  kind: "failed",
  reason: "voice",
  detail: `espeak-ng has no voice ${job.voice.name}`
})

const speakPiece = (espeak: Espeak, job: EngineJob, index: number, begun: number, sink: Sink) => {
  const piece = job.pieces[index]
  if (piece === undefined) return { samples: 0, isComplete: true }
  const style = espeakParameters(job.voice, piece)
  espeak.setParameter("rate", style.wordsPerMinute)
  espeak.setParameter("pitch", style.pitch)
  espeak.setParameter("range", style.range)

  const starts = codePointStarts(piece.text)
  const isLast = index === job.pieces.length - 1
  let samples = 0
  let isComplete = true
  const word = (event: EspeakEvent) => {
    // Positions are code points from 1; at 0 and past the end are pauses that espeak adds itself.
    const position = event.textPosition > 0 ? starts[event.textPosition - 1] : undefined
    if (event.type !== wordEvent || position === undefined || position >= piece.text.length) return
    sink.word({ piece: index, position, sample: begun + event.sample })
  }
  espeak.synthesize(withoutControls(piece.text), isLast || endsWithPause(piece.text), (pcm, events) => {
    if (!isComplete) return false
    events.forEach(word)
    samples += pcm.length
    isComplete = sink.audio(pcm, job.voice.gainDb + piece.volumeDb)
    return isComplete
  })
  return { samples, isComplete }
}
