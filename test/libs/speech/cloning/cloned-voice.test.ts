import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { EngineVoice, type VoiceTraits } from "#speech/contract"
import { espeakLanguages } from "../../../../libs/speech/voices.ts"
import {
  baseVoices,
  clonedEngineVoice,
  type ClonedGender,
  clonedLocales,
  languageMeasures,
  zeroShotVoice
} from "../../../../libs/speech/cloning/cloned-voice.ts"

const plain: VoiceTraits = {
  medianPitchHz: 120,
  pitchRangeSemitones: 4,
  syllablesPerSecond: 5,
  formantPercent: 100,
  speechLevelDbfs: -20
}
const variantOf = (name: string) => name.slice(name.indexOf("+") + 1 || name.length)

describe("a cloned voice", () => {
  it("gets the throat that fits, and of two the one of the gender", () => {
    const nameOf = (traits: Partial<VoiceTraits>, gender: ClonedGender = "not_specified") =>
      variantOf(clonedEngineVoice({ ...plain, ...traits }, "en-US", gender).name)
    assert.strictEqual(nameOf({ medianPitchHz: 100, formantPercent: 100 }), "")
    assert.strictEqual(nameOf({ medianPitchHz: 105, formantPercent: 94 }), "m3")
    assert.match(nameOf({ medianPitchHz: 200, formantPercent: 110 }), /^f/u)
    assert.match(nameOf({ medianPitchHz: 150, formantPercent: 105 }, "female"), /^f/u)
    assert.notMatch(nameOf({ medianPitchHz: 150, formantPercent: 105 }, "male"), /^f/u)
  })
  it("is higher for a higher sample, all else equal", () => {
    let before = 0
    for (let medianPitchHz = 70; medianPitchHz <= 350; medianPitchHz += 5) {
      const { name, pitchPercent } = clonedEngineVoice({ ...plain, medianPitchHz }, "de-DE", "not_specified")
      const base = baseVoices.findIndex(({ variant }) => `de${variant}` === name)
      const reached = ((languageMeasures["de-DE"].medianPitchHz[base] ?? 0) * pitchPercent) / 100
      assert.isAbove(reached, before)
      before = reached
    }
  })
  it("speaks the language of the locale, and English for an unknown one", () => {
    for (const locale of clonedLocales) {
      const { name } = clonedEngineVoice(plain, locale, "male")
      assert.isTrue(name.startsWith(espeakLanguages[locale] ?? "?"), name)
    }
    assert.isTrue(clonedEngineVoice(plain, "xx-XX", "male").name.startsWith("en-us"))
    assert.deepStrictEqual([...clonedLocales].toSorted(), Object.keys(espeakLanguages).toSorted())
  })
  it("of a zero-shot model refers to its recording, and has the others' loudness", () => {
    const reference = { object: "w.v.reference", text: "What is said." }
    const voice = zeroShotVoice({ ...plain, speechLevelDbfs: -25 }, reference)
    assert.isTrue(Schema.is(EngineVoice)(voice))
    assert.deepInclude(voice, { engine: "zero-shot", reference, gainDb: 6 })
  })
})
