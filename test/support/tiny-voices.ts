/** Speech models that hum: every token of a text is a tone of its own and lasts 1,024 samples. */
import { writeFileSync } from "node:fs"
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

/** Speaks the numbers from one to ten, a token each. */
export const writeTinyVits = (folder: string): void => {
  const tokens = [...words, ...punctuation]
  writeFileSync(join(folder, "model.onnx"), vits())
  // The space between words is token 0, which is silent.
  writeFileSync(join(folder, "tokens.txt"), [" ", ...tokens].map((token, at) => `${token} ${at}\n`).join(""))
  writeFileSync(join(folder, "lexicon.txt"), words.map((word) => `${word} ${word}\n`).join(""))
}
