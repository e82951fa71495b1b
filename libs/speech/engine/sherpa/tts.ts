/**
 * sherpa-onnx, an optional package that is loaded only for a configured model. What it returns stays within the thread
 * that loads it: no Effect here. On files that are not a model it ends the entire process; `probe.ts` finds that out
 * first.
 */
import { createRequire } from "node:module"
import { MissingPart } from "../worker/serve.ts"

/** The parts of a model that most kinds have. */
interface TextFiles {
  readonly tokens: string
  readonly lexicon?: string
  readonly dataDir?: string
}

/** One of its kinds, with sherpa-onnx's own names for files and settings. */
export interface ModelFiles {
  readonly vits?: TextFiles & { readonly model: string }
  readonly matcha?: TextFiles & { readonly acousticModel: string; readonly vocoder: string }
  readonly kitten?: TextFiles & { readonly model: string; readonly voices: string }
  readonly zipvoice?: TextFiles & { readonly encoder: string; readonly decoder: string; readonly vocoder: string }
}

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
  readonly speakers: number
  /** Resolves with all samples once more. */
  readonly generate: (order: SpeechOrder) => Promise<Float32Array>
  /** Speaks at once, and returns only then. */
  readonly speak: (order: { readonly text: string; readonly speed: number; readonly speaker: number }) => Float32Array
}

interface OfflineTts {
  readonly sampleRate: number
  readonly numSpeakers: number
  readonly generate: (request: object) => { readonly samples: Float32Array }
  readonly generateAsync: (request: object) => Promise<{ readonly samples: Float32Array }>
}

interface Sherpa {
  readonly OfflineTts: new (config: object) => OfflineTts
}

const referenceHz = 16_000
// More threads gain little for one sentence, and take capacity that the rest of the machine needs.
const computeThreads = 2

export const openNeuralVoice = (files: ModelFiles, threads: number = computeThreads): NeuralVoice => {
  const { OfflineTts } = loadSherpa()
  const model = { ...files, numThreads: threads, provider: "cpu", debug: 0 }
  const tts = new OfflineTts({ model, maxNumSentences: 1 })
  return {
    hz: tts.sampleRate,
    speakers: tts.numSpeakers,
    speak: ({ text, speed, speaker }) =>
      tts.generate({ text, enableExternalBuffer: false, generationConfig: { sid: speaker, speed } }).samples,
    generate: ({ text, speed, reference, onSamples }) =>
      tts
        .generateAsync({
          text,
          enableExternalBuffer: false,
          generationConfig: { sid: 0, speed, ...referenceConfig(reference) },
          onProgress: ({ samples }: { readonly samples: Float32Array }) => onSamples(samples)
        })
        .then(({ samples }) => samples)
  }
}

const referenceConfig = ({ samples, text }: SpeechOrder["reference"]) => ({
  referenceAudio: Float32Array.from(samples, (sample) => sample / 32_768),
  referenceSampleRate: referenceHz,
  referenceText: text
})

const loadSherpa = (): Sherpa => {
  try {
    return createRequire(import.meta.url)("sherpa-onnx-node") as Sherpa
  } catch (error) {
    throw new MissingPart(String(error).slice(0, 300))
  }
}
