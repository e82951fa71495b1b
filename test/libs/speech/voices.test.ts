import { assert, describe, it } from "@effect/vitest"
import { embeddedEngines, findModel } from "#speech/contract"
import { defaultVoiceId, engineVoice, sharedVoices, voiceById } from "../../../libs/speech/voices.ts"

const promised = ["en-US", "en-GB", "de-DE", "es-ES", "es-MX", "fr-FR", "it-IT", "pt-BR"]

describe("the shared voices", () => {
  it("have ids of their own", () => {
    assert.strictEqual(new Set(sharedVoices.map((voice) => voice.id)).size, sharedVoices.length)
  })
  it.each(embeddedEngines)("include the engine %s", (engine) => {
    assert.isTrue(sharedVoices.some((voice) => voice.engine.engine === engine))
  })
  it.each(promised)("are of both genders in %s", (locale) => {
    const genders = new Set(sharedVoices.filter((voice) => voice.locale === locale).map((voice) => voice.gender))

    assert.deepStrictEqual([...genders].toSorted(), ["female", "male"])
  })
  it("differ from one another in their engine parameters", () => {
    const engines = sharedVoices.map((voice) => JSON.stringify(voice.engine))

    assert.strictEqual(new Set(engines).size, engines.length)
  })
  it("name existing models, and English-only models only for English", () => {
    for (const voice of sharedVoices) {
      for (const model of voice.models) {
        const known = findModel(model.name)
        assert.isDefined(known)
        assert.strictEqual(model.languages[0], voice.locale)
        if (known.isEnglishOnly) assert.isTrue(model.languages.every((language) => language.startsWith("en-")))
      }
    }
  })
  it.each([
    [undefined, "selma"],
    ["en", "selma"],
    ["en-US", "selma"],
    ["en-gb", "oliver"],
    ["de", "jonas"],
    ["pt-BR", "rafael"],
    ["xx-XX", "selma"]
  ])("speak the language %s, by default, as %s", (language, id) => {
    assert.strictEqual(defaultVoiceId(language), id)
  })
  it("have an English default where no language is named, whatever stands first", () => {
    const hindi = { id: "asha", locale: "hi-IN" }
    assert.strictEqual(defaultVoiceId(undefined, [hindi, { id: "bella", locale: "en-US" }]), "bella")
    assert.strictEqual(defaultVoiceId(undefined, [hindi]), "asha")
  })
  it("are found by id", () => {
    assert.strictEqual(voiceById("henry")?.displayName, "Henry")
    assert.isUndefined(voiceById("nobody"))
  })
  it("speak another locale in the same voice when a model routes by language", () => {
    const lena = voiceById("lena")
    const selma = voiceById("selma")
    assert.isDefined(lena)
    assert.isDefined(selma)

    assert.strictEqual(engineVoice(lena)?.name, "de+f2")
    assert.strictEqual(engineVoice(lena, "es-MX")?.name, "es-419+f2")
    assert.isUndefined(engineVoice(lena, "nl-NL"))
    assert.isUndefined(engineVoice(selma, "de-DE"))
  })
})
