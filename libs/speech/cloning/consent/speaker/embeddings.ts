/**
 * Speaker embeddings by sherpa-onnx, an optional package that is loaded only for a configured model. Runs in a thread:
 * no Effect. Throws the package's error; a wrong model ends the process, see the probe.
 */
import { createRequire } from "node:module"

interface Extractor {
  readonly createStream: () => {
    readonly acceptWaveform: (wave: { readonly samples: Float32Array; readonly sampleRate: number }) => void
    readonly inputFinished: () => void
  }
  readonly isReady: (stream: ReturnType<Extractor["createStream"]>) => boolean
  readonly compute: (stream: ReturnType<Extractor["createStream"]>, enableExternalBuffer: boolean) => Float32Array
}

interface Sherpa {
  readonly SpeakerEmbeddingExtractor: new (options: {
    readonly model: string
    readonly numThreads: number
    readonly debug: boolean
  }) => Extractor
}

/** Returns distances from 0, the same direction, to 2, the opposite one. */
export const openEmbeddings = (model: string) => {
  const { SpeakerEmbeddingExtractor } = createRequire(import.meta.url)("sherpa-onnx-node") as Sherpa
  const extractor = new SpeakerEmbeddingExtractor({ model, numThreads: 1, debug: false })
  const embed = (pcm: Int16Array, rateHz: number) => {
    const stream = extractor.createStream()
    stream.acceptWaveform({ samples: Float32Array.from(pcm, (sample) => sample / 32_768), sampleRate: rateHz })
    stream.inputFinished()
    if (!extractor.isReady(stream)) throw new Error("the recording is too short for the model")
    return extractor.compute(stream, false)
  }
  return (one: Int16Array, other: Int16Array, rateHz: number) => angleDistance(embed(one, rateHz), embed(other, rateHz))
}

const angleDistance = (one: Float32Array, other: Float32Array) => {
  let [product, squareOne, squareOther] = [0, 0, 0]
  for (const [at, value] of one.entries()) {
    product += value * (other[at] ?? 0)
    squareOne += value ** 2
    squareOther += (other[at] ?? 0) ** 2
  }
  const cosine = product / Math.sqrt(squareOne * squareOther)
  if (!Number.isFinite(cosine)) throw new Error("the model gave no embedding")
  return Math.max(0, 1 - cosine)
}
