import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration } from "#configuration"
import { catalogueOf, fleetModels, usableOf } from "../../../libs/speech/catalogue.ts"
import { engineVoice, sharedVoices } from "../../../libs/speech/voices.ts"

const voices = (Models: ReadonlyArray<unknown>) =>
  Result.map(decodeConfiguration({ Voices: { Models } }), (all) => all.Voices)
const modelsOf = (...models: ReadonlyArray<unknown>) => Result.getOrThrow(voices(models)).Models
const model = {
  Id: "kokoro",
  Folder: "/models/kokoro",
  Voices: [{ Id: "bella", Locale: "en-US", Speaker: "af_bella" }]
}

describe("the catalogue of a fleet", () => {
  it("without models has the built-in voices", () => {
    assert.deepStrictEqual(catalogueOf([]).voices, sharedVoices)
    assert.strictEqual(catalogueOf([]).byId("selma")?.displayName, "Selma")
  })
  it("has the voices of models first, complete for an engine", () => {
    const [first, second] = catalogueOf(modelsOf(model)).voices
    assert.isDefined(first)
    assert.deepStrictEqual(first.engine, {
      engine: "model-kokoro",
      name: "af_bella",
      language: "en-us",
      ratePercent: 100,
      pitchPercent: 100,
      rangePercent: 100,
      formantPercent: 100,
      gainDb: 0
    })
    assert.deepStrictEqual(first.tags, ["neural"])
    assert.deepStrictEqual([first.gender, first.displayName], ["not_specified", "bella"])
    assert.isUndefined(first.quality)
    assert.strictEqual(second?.id, "selma")
  })
  it("has the quality that the operator measured of a voice", () => {
    const judged = { ...model, Voices: [{ Id: "bella", Locale: "en-US", Quality: "natural" }] }
    assert.strictEqual(catalogueOf(modelsOf(judged)).byId("bella")?.quality, "natural")
  })
  it("speaks a model's voice in its own locale alone, with the models of that locale", () => {
    const paulo = {
      ...model,
      Voices: [
        { Id: "paulo", Locale: "pt-BR" },
        { Id: "jan", Locale: "nl-NL" }
      ]
    }
    const { byId } = catalogueOf(modelsOf(paulo))
    const [routed, wide] = [byId("paulo"), byId("jan")]
    assert.isDefined(routed)
    assert.isDefined(wide)
    assert.deepStrictEqual(
      routed.models.map(({ name }) => name),
      ["tts-3.0", "tts-multilingual", "tts-dialogue-1.0"]
    )
    assert.deepStrictEqual(
      wide.models.map(({ name }) => name),
      ["tts-multilingual"]
    )
    assert.isUndefined(engineVoice(routed, "en-US"))
  })
  it("replaces a built-in voice by a model's of the same id, and lists it once", () => {
    const { voices, byId } = catalogueOf(modelsOf({ ...model, Voices: [{ Id: "henry", Locale: "en-US" }] }))
    assert.strictEqual(byId("henry")?.engine.engine, "model-kokoro")
    assert.strictEqual(voices.length, sharedVoices.length)
  })
  it("lists no voice whose engine cannot speak, so that the next best is the first, and still knows it", () => {
    const all = catalogueOf(modelsOf(model))
    const { voices, byId, isSilent } = usableOf(all, new Set(["model-kokoro"]))
    assert.deepStrictEqual(voices, sharedVoices)
    const silent = byId("bella")
    assert.isDefined(silent)
    assert.isTrue(isSilent(silent))
    assert.deepStrictEqual(usableOf(all, new Set()).voices, all.voices)
    assert.isFalse(usableOf(all, new Set(["model-other"])).isSilent(silent))
  })
  it("has the voices of the models that are in the folder, but for ids that the operator's own have", () => {
    const folder = mkdtempSync(join(tmpdir(), "starling-test-"))
    for (const file of ["hibari-0.2.1/hibari.onnx", "kokoro-1.0/kokoro.onnx"]) {
      mkdirSync(join(folder, dirname(file)))
      writeFileSync(join(folder, file), "")
    }
    const bundledWith = (...models: ReadonlyArray<unknown>) =>
      fleetModels(Result.getOrThrow(voices(models)), { STARLING_VOICES: folder }).filter(({ isBundled }) => isBundled)
    const idsOf = (models: ReturnType<typeof bundledWith>) => models.map(({ model }) => model.Id)
    const [hibari, kokoro] = bundledWith()
    assert.deepStrictEqual([hibari?.model.RealTime, kokoro?.model.RealTime], [true, false])
    const { byId } = catalogueOf(kokoro === undefined ? [] : [kokoro.model])
    assert.deepInclude(byId("dora"), { locale: "es-ES", gender: "female", isRealTime: false })
    assert.deepStrictEqual(idsOf(bundledWith({ ...model, Id: "kokoro" })), ["hibari"])
    const other = { ...model, Id: "other", Voices: ["heart", "dora"].map((Id) => ({ Id, Locale: "en-US" })) }
    const [left, ...more] = bundledWith(other)
    assert.deepStrictEqual([left?.model.Id, more.length], ["kokoro", 0])
    assert.isFalse(left?.model.Voices.some(({ Id }) => Id === "dora"))
    rmSync(folder, { recursive: true })
  })
  it("has no voice out of a folder that is not there", () => {
    const section = Result.getOrThrow(voices([]))
    assert.deepStrictEqual(fleetModels(section, { STARLING_VOICES: "/nowhere" }), [])
    assert.deepStrictEqual(fleetModels(section, {}), [])
  })
})

describe("the setting Voices.Models", () => {
  it.each([
    [[model, model], /Models has the Id kokoro twice/u],
    [[model, { ...model, Id: "other" }], /Models has the voice bella twice/u],
    [[{ ...model, Voices: [] }], /Voices\.Models\[0\]\.Voices/u],
    [[{ ...model, Voices: [{ Id: "Bella", Locale: "english" }] }], /Voices\[0\]\.Id.*Voices\[0\]\.Locale/su]
  ])("is refused with its fault: %j", (given, message) => {
    const refused = voices(given)
    assert.isTrue(Result.isFailure(refused))
    if (Result.isFailure(refused)) {
      assert.match(refused.failure.map((fault) => `${fault.path}: ${fault.message}`).join("\n"), message)
    }
  })
})
