import { assert, describe, it } from "@effect/vitest"
import { modelIn, piperAdditions } from "../../../../../libs/speech/engine/models/model-folder.ts"
import { piperJson } from "../../../../support/tiny-voices.ts"

describe("the model in a folder", () => {
  it.each([
    [["tokens.txt", "model.int8.onnx", "espeak-ng-data"], { model: "model.int8.onnx", vocoder: undefined }],
    [
      ["model-steps-3.onnx", "vocos-22khz-univ.onnx"],
      { model: "model-steps-3.onnx", vocoder: "vocos-22khz-univ.onnx" }
    ],
    [["hifigan_v2.onnx", "model.onnx"], { model: "model.onnx", vocoder: "hifigan_v2.onnx" }]
  ])("is found among %j", (names, found) => {
    assert.deepStrictEqual(modelIn(names), found)
  })
  it.each([
    [["tokens.txt"], /no model, a file whose name ends with \.onnx/u],
    [["a.onnx", "b.onnx"], /two models, a\.onnx and b\.onnx/u]
  ])("is missed or doubted among %j", (names, message) => {
    assert.throws(() => modelIn(names), message)
  })
})

describe("what sherpa-onnx lacks of a Piper voice", () => {
  it("is in the voice's json", () => {
    const { metadata, tokens } = piperAdditions(JSON.stringify(piperJson), "x.onnx.json")
    assert.deepStrictEqual(metadata, {
      model_type: "vits",
      comment: "piper",
      language: "en-us",
      voice: "en-us",
      has_espeak: "1",
      n_speakers: "1",
      sample_rate: "16000"
    })
    assert.isTrue(tokens.startsWith("_ 0\n^ 1\n$ 2\n  3\n"))
  })
  it.each([
    ["{", /x\.onnx\.json is no JSON/u],
    ["{}", /no audio\.sample_rate/u],
    [JSON.stringify({ audio: { sample_rate: 1 } }), /no espeak\.voice/u],
    [JSON.stringify({ audio: { sample_rate: 1 }, espeak: { voice: "de" } }), /no phoneme_id_map/u]
  ])("is named when the json is %j", (text, message) => {
    assert.throws(() => piperAdditions(text, "x.onnx.json"), message)
  })
})
