/**
 * What an engine is told so that it sounds like a sample: pure. The embedded engine takes the throat that needs
 * the least bending, its formants and its pitch are moved to the sample's, and where both cannot be had the pitch
 * counts: it is what a listener names first. A zero-shot model hears the sample itself.
 */
import type { EngineVoice, VoiceReference, VoiceTraits } from "#contracts"
import { espeakLanguages } from "../voices.ts"
import {
  type BaseVoice,
  baseVoices,
  type ClonedLocale,
  type LanguageMeasures,
  languageMeasures
} from "./base-voices.ts"

export type ClonedGender = "male" | "female" | "not_specified"

/** What espeak's pitch follows within 5 %, as factors of a base voice's own. */
const pitchReach = { min: 0.66, max: 1.65 }
/** Beyond this a throat sounds like a trick. */
const formantReach = { min: 0.8, max: 1.25 }
/** A sample that drawls or races stays intelligible in any text. */
const rateReach = { min: 80, max: 125 }
/** A monotone voice keeps some melody, and a wider one would push the middle of the pitch away. */
const rangeReach = { min: 60, max: 150 }
/** Above its own pitch espeak moves the formants too, by so much of what it goes higher. */
const formantLift = 0.125
/** What a throat costs for being bent, in the logarithm of the factor. */
const costs = { pitch: 0.5, formant: 1, formantMissed: 2, pitchMissed: 20, otherGender: 0.25 }
/** All voices speak at this mean power. */
const speechLevelDbfs = -19
const gainReach = { min: -20, max: 20 }

const fallback: ClonedLocale = "en-US"

/** Locales that a cloned voice speaks. */
export const clonedLocales: ReadonlyArray<string> = Object.keys(languageMeasures)

const isClonedLocale = (locale: string): locale is ClonedLocale => locale in languageMeasures

/** A locale that is none of `clonedLocales` is spoken as American English. */
export const clonedEngineVoice = (traits: VoiceTraits, locale: string, gender: ClonedGender): EngineVoice => {
  const known = isClonedLocale(locale) ? locale : fallback
  const measures: LanguageMeasures = languageMeasures[known]
  const bent = baseVoices.map((base, index) => bend(base, measures.medianPitchHz[index] ?? 100, traits, gender))
  const cheapest = bent.reduce((best, one) => (one.cost < best.cost ? one : best))
  return {
    engine: "espeak",
    name: `${espeakLanguages[known] ?? "en-us"}${cheapest.base.variant}`,
    ratePercent: percent(traits.syllablesPerSecond / measures.syllablesPerSecond, rateReach),
    pitchPercent: rounded(cheapest.pitch * 100),
    rangePercent: percent(traits.pitchRangeSemitones / measures.pitchRangeSemitones, rangeReach),
    formantPercent: rounded(cheapest.shift * 100),
    gainDb: measures.gainDb[bent.indexOf(cheapest)] ?? 0
  }
}

/** For a model that takes on the voice of the reference; as loud as all the others. */
export const zeroShotVoice = (traits: VoiceTraits, reference: VoiceReference): EngineVoice => ({
  engine: "zero-shot",
  name: "sample",
  ratePercent: 100,
  pitchPercent: 100,
  rangePercent: 100,
  formantPercent: 100,
  gainDb: rounded(within(gainReach.min, speechLevelDbfs - traits.speechLevelDbfs, gainReach.max)),
  reference
})

/** One throat bent towards the sample: by how much its formants are shifted, and to what factor of its pitch. */
const bend = (base: BaseVoice, baseHz: number, traits: VoiceTraits, gender: ClonedGender) => {
  const pitch = traits.medianPitchHz / baseHz
  const wanted = traits.formantPercent / base.formantPercent
  const unlifted = within(formantReach.min, wanted, formantReach.max)
  const lift = 1 + formantLift * Math.max(0, pitch / unlifted - 1)
  // A shift moves the pitch with it: it may not leave more to espeak than espeak can do.
  const lowest = Math.max(formantReach.min, pitch / pitchReach.max)
  const highest = Math.min(formantReach.max, pitch / pitchReach.min)
  const shift = within(formantReach.min, within(lowest, wanted / lift, highest), formantReach.max)
  const reached = shift * within(pitchReach.min, pitch / shift, pitchReach.max)
  const cost =
    costs.pitch * distance(pitch / shift) +
    costs.formant * distance(shift) +
    costs.formantMissed * distance(wanted / lift / shift) +
    costs.pitchMissed * distance(pitch / reached) +
    (gender === "not_specified" || gender === base.gender ? 0 : costs.otherGender)
  return { base, pitch: reached, shift, cost }
}

const distance = (factor: number) => Math.abs(Math.log(factor))

const within = (least: number, value: number, most: number) => Math.max(least, Math.min(most, value))

const percent = (factor: number, reach: { readonly min: number; readonly max: number }) =>
  rounded(within(reach.min, factor * 100, reach.max))

const rounded = (value: number) => Math.round(value * 10) / 10
