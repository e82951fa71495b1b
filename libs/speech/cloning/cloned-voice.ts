/**
 * The engine's voice that sounds like a sample: pure. The embedded engine takes the throat that needs the least
 * bending, and moves its formants and its pitch to the sample's. If both are out of reach the pitch counts, because
 * listeners notice it first. A zero-shot model gets the sample itself.
 */
import type { EngineVoice, VoiceReference, VoiceTraits } from "#speech/contract"
import type { VoiceForm } from "#speech/api"
import { espeakLanguages } from "#speech"

export type ClonedGender = Exclude<VoiceForm["gender"], "notSpecified">

/** The range in which espeak's pitch follows within 5 %, as factors of a base voice's own. */
const pitchReach = { min: 0.66, max: 1.65 }
/** Beyond these a throat sounds unnatural. */
const formantReach = { min: 0.8, max: 1.25 }
/** Within these the voice stays intelligible in any text, even if the sample drawls or races. */
const rateReach = { min: 80, max: 125 }
/** A monotone voice keeps some melody; a wider one would shift the middle of the pitch. */
const rangeReach = { min: 60, max: 150 }
/** Above its own pitch espeak also moves the formants, by this share of the rise. */
const formantLift = 0.125
/** The cost of bending a throat, in the logarithm of the factor. */
const costs = { pitch: 0.5, formant: 1, formantMissed: 2, pitchMissed: 20, otherGender: 0.25 }
/** All voices speak at this mean power. */
const speechLevelDbfs = -19
const gainReach = { min: -20, max: 20 }

const fallback: ClonedLocale = "en-US"

/** A throat of espeak-ng. */
interface BaseVoice {
  /** Appended to the name of a language. */
  readonly variant: string
  readonly gender: "male" | "female"
  /** Percent of the formants of espeak's own voice. */
  readonly formantPercent: number
}

export const baseVoices: ReadonlyArray<BaseVoice> = [
  { variant: "", gender: "male", formantPercent: 100 },
  { variant: "+m3", gender: "male", formantPercent: 95 },
  { variant: "+f2", gender: "female", formantPercent: 110 },
  { variant: "+f5", gender: "female", formantPercent: 109.5 }
]

/**
 * The measures of each throat in a language without any style: taken like a sample's, over the fable of the north wind
 * and the sun, with espeak-ng 1.51. `gainDb` brings it to -18 LUFS.
 */
interface LanguageMeasures {
  readonly syllablesPerSecond: number
  readonly pitchRangeSemitones: number
  /** In the order of `baseVoices`. */
  readonly medianPitchHz: ReadonlyArray<number>
  readonly gainDb: ReadonlyArray<number>
}

const row = (
  syllablesPerSecond: number,
  pitchRangeSemitones: number,
  medianPitchHz: ReadonlyArray<number>,
  gainDb: ReadonlyArray<number>
): LanguageMeasures => ({ syllablesPerSecond, pitchRangeSemitones, medianPitchHz, gainDb })

export const languageMeasures = {
  "en-US": row(4.9, 3.4, [101, 103, 193, 203], [3.3, 3.1, 1.6, 3.2]),
  "en-GB": row(5, 3.3, [100, 103, 192, 203], [2.6, 2.4, 1, 2.5]),
  "de-DE": row(5.2, 5.4, [99, 101, 188, 199], [2.8, 2.6, 1.1, 2.7]),
  "es-ES": row(5.5, 2.9, [103, 105, 196, 206], [3.4, 3.2, 1.7, 3.2]),
  "es-MX": row(5.4, 2.7, [103, 107, 199, 208], [3, 2.8, 1.3, 2.9]),
  "fr-FR": row(6.1, 3.9, [99, 102, 191, 201], [4.1, 3.8, 2.5, 4]),
  "it-IT": row(5.9, 3.5, [99, 102, 189, 200], [3.8, 3.7, 2, 3.4]),
  "pt-BR": row(5.4, 3.1, [102, 106, 197, 207], [2.3, 2.2, 0.5, 2.1]),
  "nl-NL": row(5.2, 3.5, [102, 106, 197, 207], [2.8, 2.6, 1.1, 2.7]),
  "pl-PL": row(4.5, 3.1, [102, 105, 196, 206], [3.2, 3.1, 1.2, 2.6]),
  "sv-SE": row(4.8, 2.9, [104, 107, 200, 210], [2.5, 2.5, 0.7, 2.4]),
  "cs-CZ": row(5.3, 5.6, [97, 100, 185, 196], [2.7, 2.5, 0.8, 2.2]),
  "tr-TR": row(5.5, 2.9, [102, 105, 195, 206], [2.1, 1.9, 0.5, 2]),
  "ru-RU": row(5.8, 3.6, [102, 104, 192, 202], [2.9, 2.9, 1.3, 2.7]),
  "hi-IN": row(5.6, 3, [102, 105, 197, 206], [1.6, 1.6, -0.2, 1.6]),
  "zh-CN": row(5.1, 4.4, [96, 99, 184, 195], [1.9, 1.6, 0.2, 1.9])
} as const satisfies Readonly<Record<string, LanguageMeasures>>

type ClonedLocale = keyof typeof languageMeasures

/** Locales that a cloned voice speaks. */
export const clonedLocales: ReadonlyArray<string> = Object.keys(languageMeasures)

const isClonedLocale = (locale: string): locale is ClonedLocale => locale in languageMeasures

/** A locale outside `clonedLocales` is spoken as American English. */
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

/** The voice for a model that takes on the reference's voice; as loud as all the others. */
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

/** One throat bent towards the sample: the shift of its formants, and the factor of its pitch. */
const bend = (base: BaseVoice, baseHz: number, traits: VoiceTraits, gender: ClonedGender) => {
  const pitch = traits.medianPitchHz / baseHz
  const wanted = traits.formantPercent / base.formantPercent
  const unlifted = within(formantReach.min, wanted, formantReach.max)
  const lift = 1 + formantLift * Math.max(0, pitch / unlifted - 1)
  // A shift moves the pitch with it, and the rest must stay within espeak's reach.
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
