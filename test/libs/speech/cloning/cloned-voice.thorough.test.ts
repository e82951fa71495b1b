import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { EngineVoice, type VoiceTraits } from "#speech/contract"
import { formantShift } from "../../../../libs/speech/engine/worker/serve.ts"
import {
  baseVoices,
  clonedEngineVoice,
  type ClonedGender,
  clonedLocales,
  languageMeasures
} from "../../../../libs/speech/cloning/cloned-voice.ts"

const plain: VoiceTraits = {
  medianPitchHz: 120,
  pitchRangeSemitones: 4,
  syllablesPerSecond: 5,
  formantPercent: 100,
  speechLevelDbfs: -20
}
const genders: ReadonlyArray<ClonedGender> = ["male", "female", "not_specified"]
const seconds = { espeak: 22_050 }

/** The engine's own parameters, after the formants are moved. */
const shifted = (voice: EngineVoice) => formantShift(seconds.espeak, voice)

describe("a cloned voice, over the whole range of measurements", () => {
  it("stays within espeak's range and plausible hearing, for any measurement", () => {
    for (const locale of clonedLocales) {
      for (const gender of genders) {
        for (const medianPitchHz of [50, 70, 90, 120, 150, 200, 260, 350, 500]) {
          for (const [formantPercent, pitchRangeSemitones, syllablesPerSecond] of [
            [75, 0.5, 0],
            [100, 4, 5],
            [135, 30, 40]
          ] as const) {
            const traits = { ...plain, medianPitchHz, formantPercent, pitchRangeSemitones, syllablesPerSecond }
            const voice = clonedEngineVoice(traits, locale, gender)
            const message = JSON.stringify({ traits, voice })
            assert.isTrue(Schema.is(EngineVoice)(voice), message)
            assert.isTrue(voice.ratePercent >= 80 && voice.ratePercent <= 125, message)
            assert.isTrue(voice.rangePercent >= 60 && voice.rangePercent <= 150, message)
            assert.isTrue(voice.formantPercent >= 80 && voice.formantPercent <= 125, message)
            const { pitchPercent } = shifted(voice).voice
            assert.isTrue(pitchPercent >= 64 && pitchPercent <= 168, message)
          }
        }
      }
    }
  })
  it("reaches every pitch from 70 to 350 Hz, in every language", () => {
    for (const locale of clonedLocales) {
      const measures = languageMeasures[locale as keyof typeof languageMeasures]
      for (let medianPitchHz = 70; medianPitchHz <= 350; medianPitchHz += 4) {
        for (const formantPercent of [80, 90, 100, 110, 125]) {
          const traits = { ...plain, medianPitchHz, formantPercent }
          const voice = clonedEngineVoice(traits, locale, "not_specified")
          const base = baseVoices.findIndex(
            ({ variant }) => variant === voice.name.slice(voice.name.indexOf("+")).replace(/^[^+].*/u, "")
          )
          const reached = ((measures.medianPitchHz[base] ?? 0) * voice.pitchPercent) / 100
          assert.closeTo(reached / medianPitchHz, 1, 0.005, `${locale} ${medianPitchHz} ${voice.name}`)
        }
      }
    }
  })
})
