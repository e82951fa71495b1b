import { assert, describe, it } from "@effect/vitest"
import { modelIn } from "../../../../../libs/speech/engine/zero-shot/ZeroShotPool.ts"

describe("a folder with a model", () => {
  it.each([
    [["encoder.onnx", "decoder.onnx", "vocoder.onnx", "tokens.txt"], "zipvoice"],
    [
      ["README.md", "encoder.int8.onnx", "decoder.int8.onnx", "vocos_24khz.onnx", "tokens.txt", "lexicon.txt"],
      "zipvoice"
    ],
    [["model.onnx", "tokens.txt", "lexicon.txt"], "vits"],
    [["encoder.onnx", "decoder.onnx", "model.onnx", "tokens.txt"], "vits"],
    [["encoder.onnx", "decoder.onnx", "tokens.txt"], "none"],
    [["model.onnx"], "none"],
    [[], "none"]
  ])("of the files %j holds %s", (names, kind) => {
    assert.strictEqual(modelIn("/models", names).kind, kind)
  })
  it("names its files by their whole paths, and only existing ones", () => {
    const found = modelIn("/models", [
      "vocos_24khz.onnx",
      "encoder.int8.onnx",
      "decoder.int8.onnx",
      "tokens.txt",
      "espeak-ng-data"
    ])
    assert.deepStrictEqual(found.kind === "none" ? undefined : found.files, {
      zipvoice: {
        encoder: "/models/encoder.int8.onnx",
        decoder: "/models/decoder.int8.onnx",
        vocoder: "/models/vocos_24khz.onnx",
        tokens: "/models/tokens.txt",
        dataDir: "/models/espeak-ng-data"
      }
    })
  })
})
