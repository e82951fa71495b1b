/** Speech models that hum: every token of a text is a tone of its own and lasts 1,024 samples. */
import { globSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { constant, node, onnxModel, value } from "./onnx.ts"

export const tinyVoiceHz = 16_000
export const samplesPerToken = 1_024
const stepHz = 100
const words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
const punctuation = [".", ",", "!", "?"]

const ramp = Array.from({ length: samplesPerToken }, (_, at) => at)

const vits = () =>
  onnxModel({
    inputs: [
      value("x", "int64", ["N", "L"]),
      value("x_length", "int64", ["N"]),
      value("noise_scale", "float", [1]),
      value("length_scale", "float", [1]),
      value("noise_scale_w", "float", [1])
    ],
    outputs: [value("y", "float", ["N", 1, "T"])],
    constants: [
      constant("turn", "float", [1], [(2 * Math.PI * stepHz) / tinyVoiceHz]),
      constant("half", "float", [1], [0.5]),
      constant("last", "int64", [1], [2]),
      constant("ramp", "float", [samplesPerToken], ramp),
      constant("flat", "int64", [3], [1, 1, -1])
    ],
    nodes: [
      node("Cast", ["x"], ["token"], { to: 1 }),
      node("Mul", ["token", "turn"], ["angle"]),
      node("Unsqueeze", ["angle", "last"], ["column"]),
      node("Mul", ["column", "ramp"], ["phase"]),
      node("Sin", ["phase"], ["tone"]),
      node("Mul", ["tone", "half"], ["soft"]),
      node("Reshape", ["soft", "flat"], ["y"])
    ],
    metadata: {
      model_type: "vits",
      sample_rate: String(tinyVoiceHz),
      n_speakers: "1",
      add_blank: "0",
      language: "English",
      comment: "tiny",
      punctuation: punctuation.join(" ")
    }
  })

export const kokoroFramesPerSymbol = 3

/** Reads Kokoro's symbols: each lasts three frames of 600 samples, and is a tone by its number. */
export const tinyKokoro = (): Uint8Array => {
  const samples = kokoroFramesPerSymbol * 600
  return onnxModel({
    inputs: [value("tokens", "int64", [1, "L"]), value("style", "float", [1, 256]), value("speed", "float", [1])],
    outputs: [value("audio", "float", ["T"])],
    constants: [
      constant("turn", "float", [1], [(2 * Math.PI * 20) / 24_000]),
      constant("half", "float", [1], [0.5]),
      constant("none", "float", [1], [0]),
      constant("three", "float", [1], [kokoroFramesPerSymbol + 0.2]),
      constant("least", "float", [], [1]),
      constant("last", "int64", [1], [2]),
      constant(
        "ramp",
        "float",
        [samples],
        Array.from({ length: samples }, (_, at) => at)
      ),
      constant("flat", "int64", [1], [-1])
    ],
    nodes: [
      node("Cast", ["tokens"], ["token"], { to: 1 }),
      node("Mul", ["token", "none"], ["zeros"]),
      node("Add", ["zeros", "three"], ["lengths"]),
      node("Round", ["lengths"], ["rounded"]),
      node("Clip", ["rounded", "least"], ["lasts"]),
      node("Mul", ["token", "turn"], ["angle"]),
      node("Unsqueeze", ["angle", "last"], ["column"]),
      node("Mul", ["column", "ramp"], ["phase"]),
      node("Sin", ["phase"], ["tone"]),
      node("Mul", ["tone", "half"], ["soft"]),
      node("Reshape", ["soft", "flat"], ["audio"])
    ],
    metadata: {}
  })
}

const piper = () =>
  onnxModel({
    inputs: [
      value("input", "int64", ["N", "L"]),
      value("input_lengths", "int64", ["N"]),
      value("scales", "float", [3])
    ],
    outputs: [value("output", "float", ["N", 1, 1, "T"])],
    constants: [
      constant("turn", "float", [1], [(2 * Math.PI * 5) / tinyVoiceHz]),
      constant("half", "float", [1], [0.5]),
      constant("last", "int64", [1], [2]),
      constant("ramp", "float", [samplesPerToken], ramp),
      constant("flat", "int64", [4], [1, 1, 1, -1])
    ],
    nodes: [
      node("Cast", ["input"], ["token"], { to: 1 }),
      node("Mul", ["token", "turn"], ["angle"]),
      node("Unsqueeze", ["angle", "last"], ["column"]),
      node("Mul", ["column", "ramp"], ["phase"]),
      node("Sin", ["phase"], ["tone"]),
      node("Mul", ["tone", "half"], ["soft"]),
      node("Reshape", ["soft", "flat"], ["output"])
    ],
    metadata: {}
  })

const piperSymbols = [..."_^$ !',.?abcdefhijklmnopqrstuvwxyzæðŋɐɑɒɔəɚɛɜɡɪɫɹɾʃʊʌʒˈˌːθᵻ"]

export const piperJson = {
  audio: { sample_rate: tinyVoiceHz },
  espeak: { voice: "en-us" },
  phoneme_id_map: Object.fromEntries(piperSymbols.map((symbol, at) => [symbol, [at]]))
}

/** A Piper voice as it is published: a model without metadata, and a json that describes it. */
export const writeTinyPiper = (folder: string): void => {
  writeFileSync(join(folder, "en_US-tiny.onnx"), piper())
  writeFileSync(join(folder, "en_US-tiny.onnx.json"), JSON.stringify(piperJson))
}

/** Matcha's first half: a frame of 1,024 samples for each token, longer or shorter as its speed is. */
const matcha = () =>
  onnxModel({
    inputs: [
      value("x", "int64", ["N", "L"]),
      value("x_length", "int64", ["N"]),
      value("noise_scale", "float", [1]),
      value("length_scale", "float", [1])
    ],
    outputs: [value("mel", "float", ["N", "L", "S"])],
    constants: [
      constant("turn", "float", [1], [(2 * Math.PI * 5) / tinyVoiceHz]),
      constant("half", "float", [1], [0.5]),
      constant("last", "int64", [1], [2]),
      constant("none", "float", [], [0]),
      constant("one", "float", [], [1]),
      constant("all", "float", [1], [samplesPerToken]),
      constant("single", "int64", [0], [])
    ],
    nodes: [
      node("Mul", ["all", "length_scale"], ["length"]),
      node("Reshape", ["length", "single"], ["limit"]),
      node("Range", ["none", "limit", "one"], ["ramp"]),
      node("Cast", ["x"], ["token"], { to: 1 }),
      node("Mul", ["token", "turn"], ["angle"]),
      node("Unsqueeze", ["angle", "last"], ["column"]),
      node("Mul", ["column", "ramp"], ["phase"]),
      node("Sin", ["phase"], ["tone"]),
      node("Mul", ["tone", "half"], ["mel"])
    ],
    metadata: {
      model_type: "matcha-tts",
      sample_rate: String(tinyVoiceHz),
      version: "1",
      n_speakers: "1",
      has_espeak: "1",
      jieba: "0",
      voice: "en-us",
      language: "English",
      use_eos_bos: "1",
      pad_id: "0"
    }
  })

/** Its second half: the frames in a row. */
const vocoder = () =>
  onnxModel({
    inputs: [value("mel", "float", ["N", "L", "S"])],
    outputs: [value("audio", "float", ["N", 1, "T"])],
    constants: [constant("flat", "int64", [3], [1, 1, -1])],
    nodes: [node("Reshape", ["mel", "flat"], ["audio"])],
    metadata: { model_type: "hifigan" }
  })

/** As loud as the first number of its style. */
const kitten = () =>
  onnxModel({
    inputs: [value("input_ids", "int64", [1, "L"]), value("style", "float", [1, 2]), value("speed", "float", [1])],
    outputs: [value("waveform", "float", ["T"])],
    constants: [
      constant("turn", "float", [1], [(2 * Math.PI * 5) / tinyVoiceHz]),
      constant("first", "int64", [1], [0]),
      constant("last", "int64", [1], [2]),
      constant("none", "float", [], [0]),
      constant("one", "float", [], [1]),
      constant("all", "float", [1], [samplesPerToken]),
      constant("single", "int64", [0], []),
      constant("flat", "int64", [1], [-1])
    ],
    nodes: [
      node("Div", ["all", "speed"], ["length"]),
      node("Reshape", ["length", "single"], ["limit"]),
      node("Range", ["none", "limit", "one"], ["ramp"]),
      node("Gather", ["style", "first"], ["loudness"], { axis: 1 }),
      node("Cast", ["input_ids"], ["token"], { to: 1 }),
      node("Mul", ["token", "turn"], ["angle"]),
      node("Unsqueeze", ["angle", "last"], ["column"]),
      node("Mul", ["column", "ramp"], ["phase"]),
      node("Sin", ["phase"], ["tone"]),
      node("Mul", ["tone", "loudness"], ["soft"]),
      node("Reshape", ["soft", "flat"], ["waveform"])
    ],
    metadata: {
      model_type: "kitten-tts",
      sample_rate: String(tinyVoiceHz),
      version: "1",
      n_speakers: "2",
      has_espeak: "1",
      voice: "en-us",
      language: "English",
      style_dim: "1,2"
    }
  })

/** What both find in their folders to turn a text into symbols: their numbers, and the data of the system's espeak-ng. */
const writeSymbols = (folder: string) => {
  writeFileSync(join(folder, "tokens.txt"), piperSymbols.map((symbol, at) => `${symbol} ${at}\n`).join(""))
  const [data] = globSync(["/usr/lib/*/espeak-ng-data", "/usr/share/espeak-ng-data", "/usr/lib/espeak-ng-data"])
  symlinkSync(data ?? "/usr/share/espeak-ng-data", join(folder, "espeak-ng-data"))
}

/** A Matcha model with the vocoder that turns its frames into sound. */
export const writeTinyMatcha = (folder: string): void => {
  writeFileSync(join(folder, "model-steps-3.onnx"), matcha())
  writeFileSync(join(folder, "hifigan_v2.onnx"), vocoder())
  writeSymbols(folder)
}

/** A KittenTTS model with two speakers, the second half as loud as the first. */
export const writeTinyKitten = (folder: string): void => {
  writeFileSync(join(folder, "model.fp16.onnx"), kitten())
  writeFileSync(join(folder, "voices.bin"), new Uint8Array(Float32Array.of(0.5, 0, 0.25, 0).buffer))
  writeSymbols(folder)
}

/** A Kokoro model with two styles. */
export const writeTinyKokoro = (folder: string): void => {
  writeFileSync(join(folder, "kokoro.onnx"), tinyKokoro())
  mkdirSync(join(folder, "voices"))
  for (const name of ["af_one", "bf_two"])
    writeFileSync(join(folder, "voices", `${name}.bin`), new Uint8Array(510 * 1_024))
}

/** Speaks the numbers from one to ten, a token each. */
export const writeTinyVits = (folder: string): void => {
  const tokens = [...words, ...punctuation]
  writeFileSync(join(folder, "model.onnx"), vits())
  // The space between words is token 0, which is silent.
  writeFileSync(join(folder, "tokens.txt"), [" ", ...tokens].map((token, at) => `${token} ${at}\n`).join(""))
  writeFileSync(join(folder, "lexicon.txt"), words.map((word) => `${word} ${word}\n`).join(""))
}
