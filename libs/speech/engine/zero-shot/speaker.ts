/**
 * A job spoken by a neural model. Neighbouring pieces of one pace and loudness are spoken together, because a model
 * needs a whole sentence to find its melody. Pitch and its range are the reference's and cannot be requested. The model
 * reports no words; the aligner places them. A cancelled job ends with the sentence in progress.
 */
import { createRequire } from "node:module"
import type { EngineJob } from "../Engine.ts"
import type { Outcome } from "../worker/protocol.ts"
import { MissingPart, type Sink, type Speaker, withoutControls } from "../worker/serve.ts"
import type { ModelFiles } from "./ZeroShotPool.ts"

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

export interface SpeechOrder {
  readonly text: string
  readonly speed: number
  /** Samples at 16,000 Hz, and the words that are spoken in them. */
  readonly reference: { readonly samples: Int16Array; readonly text: string }
  /** Called with each sentence, between -1 and 1; returns false to stop. */
  readonly onSamples: (samples: Float32Array) => boolean
}

interface NeuralVoice {
  readonly hz: number
  /** Resolves with all samples once more. */
  readonly generate: (order: SpeechOrder) => Promise<Float32Array>
}

interface OfflineTts {
  readonly sampleRate: number
  readonly generateAsync: (request: object) => Promise<{ readonly samples: Float32Array }>
}

interface Sherpa {
  readonly OfflineTts: new (config: object) => OfflineTts
}

const referenceHz = 16_000
// More threads gain little for one sentence, and take capacity that the rest of the machine needs.
const computeThreads = 2

/**
 * sherpa-onnx, an optional package that is loaded only for a configured model. It computes in threads of its own and
 * returns promises, which stay within the thread that loads it: no Effect here. On files that are no model it ends the
 * whole process; the probe finds that out first.
 */
export const openNeuralVoice = (files: ModelFiles): NeuralVoice => {
  const { OfflineTts } = loadSherpa()
  const model = { ...files, numThreads: computeThreads, provider: "cpu", debug: 0 }
  const tts = new OfflineTts({ model, maxNumSentences: 1 })
  return {
    hz: tts.sampleRate,
    generate: ({ text, speed, reference, onSamples }) =>
      tts
        .generateAsync({
          text,
          enableExternalBuffer: false,
          generationConfig: {
            sid: 0,
            speed,
            referenceAudio: Float32Array.from(reference.samples, (sample) => sample / 32_768),
            referenceSampleRate: referenceHz,
            referenceText: reference.text
          },
          onProgress: ({ samples }: { readonly samples: Float32Array }) => onSamples(samples)
        })
        .then(({ samples }) => samples)
  }
}

const loadSherpa = (): Sherpa => {
  try {
    return createRequire(import.meta.url)("sherpa-onnx-node") as Sherpa
  } catch (error) {
    throw new MissingPart(String(error).slice(0, 300))
  }
}
