/**
 * A voice as the fleet's engines are told it, whole: a synthesizer looks up neither the catalogue nor anybody's
 * records. Percentages are of the engine's own voice, 100 leaves it as it is. And what a sample of somebody's
 * speech was measured to be, from which such a voice is made.
 */
import { Schema } from "effect"

/** The engines that a synthesizer loads from its host's libraries: each has a consumer, and a trigger of its scaling. */
export const embeddedEngines = ["espeak", "flite"] as const
export type EmbeddedEngine = (typeof embeddedEngines)[number]

const settings = {
  /** The engine's name for it: `en-us+f2` for espeak, `slt` for flite; zero-shot models have but one, `sample`. */
  name: Schema.String,
  ratePercent: Schema.Finite,
  pitchPercent: Schema.Finite,
  /** How far the melody strays from its middle. */
  rangePercent: Schema.Finite,
  /** A longer or a shorter throat, at the same pitch and the same pace. */
  formantPercent: Schema.Finite,
  /** Makes all voices equally loud. */
  gainDb: Schema.Finite
}

/** Whose voice a zero-shot model takes on. */
export const VoiceReference = Schema.Struct({
  /** In the object store `voice-samples`: 16-bit little-endian samples, 16,000 Hz, mono, without a header. */
  object: Schema.NonEmptyString,
  /** What is said in it. */
  text: Schema.String
})
export interface VoiceReference extends Schema.Schema.Type<typeof VoiceReference> {}

export const EngineVoice = Schema.Union([
  Schema.Struct({ engine: Schema.Literals(embeddedEngines), ...settings }),
  Schema.Struct({ engine: Schema.Literal("zero-shot"), ...settings, reference: VoiceReference })
])
export type EngineVoice = Schema.Schema.Type<typeof EngineVoice>

/** Of 10 to 30 seconds of one person's speech. */
export const VoiceTraits = Schema.Struct({
  medianPitchHz: Schema.Finite,
  /** From the tenth to the ninetieth of a hundred, in order of height. */
  pitchRangeSemitones: Schema.Finite,
  /** While something is said: pauses are not counted. */
  syllablesPerSecond: Schema.Finite,
  /** The formants against those of espeak's own English voice; a child's are higher, a tall man's lower. */
  formantPercent: Schema.Finite,
  /** Mean power of what is said, against full scale. */
  speechLevelDbfs: Schema.Finite
})
export interface VoiceTraits extends Schema.Schema.Type<typeof VoiceTraits> {}
