/**
 * A voice as an engine gets it, complete: a synthesizer reads neither the catalogue nor any records. Percentages are
 * relative to the engine's own voice: 100 leaves it unchanged. And the measured traits of a speech sample, from which
 * such a voice is made.
 */
import { Schema } from "effect"

/**
 * The engines that a synthesizer loads from its host's libraries: each has its own consumer and its own scaling
 * trigger.
 */
export const embeddedEngines = ["espeak", "flite"] as const
export type EmbeddedEngine = (typeof embeddedEngines)[number]

const settings = {
  /** The engine's name for the voice: `en-us+f2` for espeak, `slt` for flite, a speaker for models. */
  name: Schema.String,
  ratePercent: Schema.Finite,
  pitchPercent: Schema.Finite,
  /** How far the melody moves away from its middle. */
  rangePercent: Schema.Finite,
  /** A longer or a shorter vocal tract, at the same pitch and the same pace. */
  formantPercent: Schema.Finite,
  /** Makes all voices equally loud. */
  gainDb: Schema.Finite
}

/** The sample whose voice a zero-shot model takes on. */
export const VoiceReference = Schema.Struct({
  /** In the object store `voice-samples`: 16-bit little-endian samples, 16,000 Hz, mono, without a header. */
  object: Schema.NonEmptyString,
  /** The words that are spoken in it. */
  text: Schema.String
})
export interface VoiceReference extends Schema.Schema.Type<typeof VoiceReference> {}

/** The engine of a model from a folder: each model has its own threads, consumer and pace. */
const ModelEngine = Schema.TemplateLiteral(["model-", Schema.String])
export type ModelEngine = typeof ModelEngine.Type

/** The engine of an operator's program: each has its own processes, consumer and pace. */
const ProcessEngine = Schema.TemplateLiteral(["process-", Schema.String])
export type ProcessEngine = typeof ProcessEngine.Type

export const EngineVoice = Schema.Union([
  Schema.Struct({ engine: Schema.Literals(embeddedEngines), ...settings }),
  Schema.Struct({
    engine: ModelEngine,
    ...settings,
    /** espeak-ng's name for the language, which determines the model's phonemes and word times. */
    language: Schema.String
  }),
  Schema.Struct({
    engine: ProcessEngine,
    ...settings,
    /** espeak-ng's name for the language, used for word times that the program does not report. */
    language: Schema.String,
    /** The locale passed to the program. */
    locale: Schema.String
  }),
  Schema.Struct({ engine: Schema.Literal("zero-shot"), ...settings, reference: VoiceReference })
])
export type EngineVoice = Schema.Schema.Type<typeof EngineVoice>

/** The traits of 10 to 30 seconds of one person's speech. */
export const VoiceTraits = Schema.Struct({
  medianPitchHz: Schema.Finite,
  /** The distance from the 10th to the 90th percentile of pitch. */
  pitchRangeSemitones: Schema.Finite,
  /** Measured over speech only: pauses are not counted. */
  syllablesPerSecond: Schema.Finite,
  /** The formants relative to those of espeak's own English voice; a child's are higher, a tall man's lower. */
  formantPercent: Schema.Finite,
  /** The mean power of the speech, relative to full scale. */
  speechLevelDbfs: Schema.Finite
})
export interface VoiceTraits extends Schema.Schema.Type<typeof VoiceTraits> {}
