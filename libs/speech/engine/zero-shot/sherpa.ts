/**
 * sherpa-onnx, an optional package that is loaded only for a configured model. It computes in threads of its own and
 * returns promises, which stay within the thread that loads it: no Effect here. On files that are no model it ends the
 * whole process; the probe finds that out first.
 */
import { createRequire } from "node:module"
import { MissingPart } from "../worker/speaker.ts"
import type { ModelFiles } from "./ZeroShotPool.ts"

export interface SpeechOrder {
  readonly text: string
  readonly speed: number
  /** Samples at 16,000 Hz, and the words that are spoken in them. */
  readonly reference: { readonly samples: Int16Array; readonly text: string }
  /** Called with each sentence, between -1 and 1; returns false to stop. */
  readonly onSamples: (samples: Float32Array) => boolean
}

export interface NeuralVoice {
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
