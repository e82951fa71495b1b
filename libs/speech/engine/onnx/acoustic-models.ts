/**
 * The models that read Kokoro's phonemes: Kokoro itself, with a style for each voice, and hibari, which is one of its
 * voices distilled. Both report how long each symbol lasts. Opened in an engine's thread.
 */
import { readFileSync } from "node:fs"
import { makeResampler } from "#speech/audio/resample"
import { toPcm } from "../worker/passages.ts"
import { contentsOf, outputBytes } from "./model-file.ts"
import { type OnnxModel, openOnnxModel, type Tensor } from "./runtime.ts"
import { makeSound, vocoderHop, vocoderHz } from "./vocoder.ts"
import { vocabulary } from "./vocabulary.ts"

export interface AcousticFiles {
  readonly kind: "hibari" | "kokoro"
  readonly model: string
  /** By a style's name, the file with it and where in the file it starts. Hibari has none. */
  readonly styles: Readonly<Record<string, { readonly file: string; readonly from: number }>>
  readonly threads: number
}

export interface Utterance {
  readonly symbols: string
  readonly speaker: string
  readonly pitch: number
  readonly range: number
}

interface Listener {
  /** Called first, with the sample at which each symbol starts, and the end; none if the model does not report them. */
  readonly begins: (starts: ReadonlyArray<number>) => void
  /** Returns false to stop. */
  readonly sound: (pcm: Int16Array) => boolean
}

export interface AcousticModel {
  readonly hz: number
  readonly speakers: ReadonlyArray<string>
  readonly speak: (utterance: Utterance, listener: Listener) => void
  readonly stop: OnnxModel["stop"]
}

export const openAcousticModel = (
  { kind, model: file, styles, threads }: AcousticFiles,
  isCancelled: () => boolean
): AcousticModel => {
  let durations: string | undefined
  const tail = (bytes: Uint8Array) => {
    durations = contentsOf(bytes)?.durations
    return durations === undefined ? new Uint8Array(0) : outputBytes(durations)
  }
  const model = openOnnxModel({ file, tail, threads, isCancelled })
  return kind === "hibari" ? hibari(model, durations) : kokoro(model, durations, styles)
}

// The symbols before the first and after the last, which are silent.
const idsOf = (symbols: string): Tensor => {
  const ids = [0, ...[...symbols].flatMap((symbol) => vocabulary.get(symbol) ?? []), 0]
  return { data: BigInt64Array.from(ids, BigInt), shape: [1, ids.length] }
}

const numberOf = (value: number): Tensor => ({ data: Float32Array.of(value), shape: [1] })

/**
 * Each symbol is heard this much before its frames: Kokoro was trained so, and so was what was learned from it. The
 * median over 62 words behind pauses of twenty books.
 */
const earlyFrames = 2

/** Where each symbol of the text starts, in samples. Symbols that the model does not know have no duration. */
const startsOf = (
  symbols: string,
  frames: Float32Array | undefined,
  samplesPerFrame: number
): ReadonlyArray<number> => {
  if (frames === undefined) return []
  const starts: Array<number> = []
  let [at, sample] = [1, Math.max(0, (frames[0] ?? 0) - earlyFrames) * samplesPerFrame]
  for (const symbol of symbols) {
    starts.push(sample)
    if (symbol.length === 2) starts.push(sample)
    if (vocabulary.has(symbol)) sample += (frames[at++] ?? 0) * samplesPerFrame
  }
  return [...starts, sample]
}

const hibariFrame = 2 * vocoderHop

const hibari = (model: OnnxModel, durations: string | undefined): AcousticModel => ({
  hz: vocoderHz,
  speakers: ["0"],
  stop: model.stop,
  speak: ({ symbols, pitch, range }, { begins, sound }) => {
    const names = ["lh", "theta", "ln", "lr", "phi", "f0", ...(durations === undefined ? [] : [durations])]
    model.run({ ids: idsOf(symbols), speed: numberOf(1) }, names, (outputs) => {
      const [harmonic, turn, noise, free, phase, melody, frames] = outputs
      if (!harmonic || !turn || !noise || !free || !phase || !melody) return
      begins(startsOf(symbols, frames, hibariFrame))
      const spectra = { harmonic, turn, noise, free, phase, pitch: bent(melody, pitch, range) }
      makeSound(spectra, (samples) => sound(toPcm(samples)))
    })
  }
})

const voicedFrom = 40

/** A melody that is higher or lower, and moves more or less about its middle. Pure. */
export const bent = (melody: Float32Array, pitch: number, range: number): Float32Array => {
  if (pitch === 1 && range === 1) return melody
  const voiced = melody.filter((hertz) => hertz > voicedFrom)
  const middle = voiced.reduce((sum, hertz) => sum + Math.log(hertz), 0) / Math.max(1, voiced.length)
  return melody.map((hertz) =>
    hertz <= voicedFrom ? hertz : Math.exp(middle + (Math.log(hertz) - middle) * range) * pitch
  )
}

const kokoroHz = 24_000
const kokoroFrame = 600
const styleSize = 256
const stylesPerVoice = 510
const floatBytes = 4
/** A resampler's table stays small between rates on this grid. */
const gridHz = 150

const kokoro = (model: OnnxModel, durations: string | undefined, files: AcousticFiles["styles"]): AcousticModel => {
  const styles = new Map<string, Float32Array>()
  const styleOf = (speaker: string, length: number): Tensor => {
    const { file, from } = files[speaker] ?? { file: "", from: 0 }
    const known = styles.get(speaker) ?? readStyle(file, from)
    styles.set(speaker, known)
    const row = Math.min(length, stylesPerVoice - 1) * styleSize
    return { data: known.slice(row, row + styleSize), shape: [1, styleSize] }
  }
  const idsName = model.inputs.find((name) => name !== "style" && name !== "speed") ?? "tokens"
  const names = ["audio", ...(durations === undefined ? [] : [durations])]
  return {
    hz: kokoroHz,
    speakers: Object.keys(files),
    stop: model.stop,
    speak: ({ symbols, speaker, pitch }, { begins, sound }) => {
      const ids = idsOf(symbols)
      // Higher is slower speech played faster, and the formants move along.
      const hz = gridHz * Math.round((kokoroHz * pitch) / gridHz)
      const factor = hz / kokoroHz
      const inputs = { [idsName]: ids, style: styleOf(speaker, ids.data.length - 2), speed: numberOf(1 / factor) }
      model.run(inputs, names, ([audio, frames]) => {
        begins(startsOf(symbols, frames, kokoroFrame / factor))
        const resampler = makeResampler(hz, kokoroHz)
        if (audio && sound(resampler.push(toPcm(audio)))) sound(resampler.flush())
      })
    }
  }
}

const readStyle = (file: string, from: number) => {
  const length = stylesPerVoice * styleSize * floatBytes
  const bytes = Uint8Array.from(readFileSync(file).subarray(from, from + length))
  if (bytes.length !== length) throw new Error(`${file} ends within a style`)
  return new Float32Array(bytes.buffer)
}
