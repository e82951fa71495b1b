/**
 * The voices available to everybody: their table, and the locales that each speaks with which model. A German voice's
 * English is the same voice in another language: with the models that route by language an espeak voice speaks all
 * their locales, a flite voice only its own.
 */
import type { EmbeddedEngine, EngineVoice, ModelId, VoiceQuality } from "#speech/contract"

interface VoiceModel {
  readonly name: ModelId
  /** Locales that the voice speaks with this model, its own first. */
  readonly languages: ReadonlyArray<string>
}

export interface SharedVoice {
  readonly id: string
  readonly displayName: string
  readonly gender: "male" | "female" | "not_specified"
  readonly locale: string
  readonly tags: ReadonlyArray<string>
  readonly models: ReadonlyArray<VoiceModel>
  readonly engine: EngineVoice
  /** Absent where nobody judged it. */
  readonly quality?: VoiceQuality
  /** False for one that takes longer to speak than to be heard. */
  readonly isRealTime?: boolean
  /** Where it can be heard. */
  readonly preview?: string
}

/** A voice of an engine, and the locale that it was made for. */
interface Row {
  readonly id: string
  readonly gender: SharedVoice["gender"]
  readonly locale: string
  readonly engine: EmbeddedEngine
  /** The engine's name for the voice. */
  readonly voice: string
  readonly pitchPercent?: number
  /** Brings the voice to -18 LUFS: measured with `ffmpeg -af ebur128` on a sentence of the voice's own language. */
  readonly gainDb: number
  readonly quality: VoiceQuality
  /** Words with spaces between them. */
  readonly tags: string
}

const american = { locale: "en-US", engine: "flite", quality: "clear" } as const

/**
 * Voices recorded from persons, in order of intelligibility to a speech recognizer, which is far better than for
 * espeak's voices.
 */
const recordedRows: ReadonlyArray<Row> = [
  { id: "selma", gender: "female", ...american, voice: "slt", gainDb: -2.7, tags: "recorded" },
  { id: "roger", gender: "male", ...american, voice: "rms", gainDb: 3, tags: "deep recorded" },
  { id: "alan", gender: "male", ...american, voice: "awb", gainDb: 1.5, tags: "warm scottish recorded" },
  { id: "kal", gender: "male", ...american, voice: "kal16", gainDb: 9.9, quality: "basic", tags: "flat quick recorded" }
]

/** espeak's name for the language of each locale. */
export const espeakLanguages: Readonly<Record<string, string>> = {
  "en-US": "en-us",
  "en-GB": "en",
  "de-DE": "de",
  "es-ES": "es",
  "es-MX": "es-419",
  "fr-FR": "fr",
  "it-IT": "it",
  "pt-BR": "pt-br",
  "nl-NL": "nl",
  "pl-PL": "pl",
  "sv-SE": "sv",
  "cs-CZ": "cs",
  "tr-TR": "tr",
  "ru-RU": "ru",
  "hi-IN": "hi",
  "zh-CN": "cmn"
}

/**
 * espeak's name for further languages: no voice of the catalogue has them as its own, but every espeak voice reads
 * them.
 */
export const espeakReaders: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "el-GR el|uk-UA uk|bg-BG bg|sr-RS sr|ja-JP ja|ko-KR ko|ar-SA ar|fa-IR fa|ur-PK ur|he-IL he|th-TH th|bn-BD bn|pa-IN pa|" +
    "gu-IN gu|or-IN or|ta-IN ta|te-IN te|kn-IN kn|ml-IN ml|mr-IN mr|ne-NP ne|si-LK si|my-MM my|ka-GE ka|hy-AM hy|am-ET am|" +
    "pt-PT pt|fr-BE fr-be|fr-CH fr-ch|da-DK da|nb-NO nb|fi-FI fi|is-IS is|et-EE et|lv-LV lv|lt-LT lt|sk-SK sk|sl-SI sl|" +
    "hr-HR hr|hu-HU hu|ro-RO ro|ca-ES ca|cy-GB cy|ga-IE ga|id-ID id|ms-MY ms|vi-VN vi|sw-KE sw|af-ZA af|eo eo|la la"
  )
    .split("|")
    .map((pair) => pair.split(" ") as [locale: string, name: string])
)

/**
 * An espeak voice is a language and a variant: its vocal tract, so to speak. The variant is appended to the language's
 * name, and none is the language's own voice.
 */
type EspeakRow = readonly [
  id: string,
  gender: SharedVoice["gender"],
  locale: string,
  variant: string,
  pitchPercent: number,
  gainDb: number,
  tags: string
]

const espeakRows: ReadonlyArray<EspeakRow> = [
  ["henry", "male", "en-US", "", 100, 2.7, "neutral"],
  ["marcus", "male", "en-US", "+m3", 95, 2.9, "deep calm"],
  ["nora", "female", "en-US", "+f2", 100, 1, "neutral"],
  ["claire", "female", "en-US", "+f5", 105, 2.4, "bright lively"],
  ["oliver", "male", "en-GB", "", 100, 1.8, "neutral"],
  ["arthur", "male", "en-GB", "+m7", 92, 1.1, "deep calm"],
  ["emma", "female", "en-GB", "+f2", 98, 0.3, "neutral"],
  ["jonas", "male", "de-DE", "", 100, 2.5, "neutral"],
  ["lena", "female", "de-DE", "+f2", 100, 0.6, "neutral"],
  ["javier", "male", "es-ES", "", 100, 3.4, "neutral"],
  ["lucia", "female", "es-ES", "+f2", 100, 1.7, "neutral"],
  ["diego", "male", "es-MX", "+m3", 100, 2.9, "neutral"],
  ["valeria", "female", "es-MX", "+f5", 100, 3, "neutral"],
  ["julien", "male", "fr-FR", "", 100, 4.2, "neutral"],
  ["camille", "female", "fr-FR", "+f2", 100, 2.5, "neutral"],
  ["matteo", "male", "it-IT", "", 100, 3.8, "neutral"],
  ["giulia", "female", "it-IT", "+f2", 100, 1.9, "neutral"],
  ["rafael", "male", "pt-BR", "", 100, 2.5, "neutral"],
  ["beatriz", "female", "pt-BR", "+f2", 100, 0.8, "neutral"],
  ["daan", "male", "nl-NL", "", 100, 2.4, "neutral"],
  ["sanne", "female", "nl-NL", "+f2", 100, 0.6, "neutral"],
  ["kacper", "male", "pl-PL", "", 100, 3, "neutral"],
  ["zofia", "female", "pl-PL", "+f2", 100, 1.1, "neutral"],
  ["erik", "male", "sv-SE", "", 100, 2.3, "neutral"],
  ["astrid", "female", "sv-SE", "+f2", 100, 0.7, "neutral"],
  ["tomas", "male", "cs-CZ", "", 100, 2.9, "neutral"],
  ["eliska", "female", "cs-CZ", "+f2", 100, 1.2, "neutral"],
  ["emre", "male", "tr-TR", "", 100, 1.4, "neutral"],
  ["elif", "female", "tr-TR", "+f2", 100, -0.2, "neutral"],
  ["dmitri", "male", "ru-RU", "", 100, 2.4, "neutral"],
  ["irina", "female", "ru-RU", "+f2", 100, 0.8, "neutral"],
  ["arjun", "male", "hi-IN", "", 100, 2, "neutral"],
  ["priya", "female", "hi-IN", "+f2", 100, 0.3, "neutral"],
  ["wei", "male", "zh-CN", "", 100, 2.5, "neutral"],
  ["mei", "female", "zh-CN", "+f2", 100, 0.9, "neutral"]
]

const espeakRow = ([id, gender, locale, variant, pitchPercent, gainDb, tags]: EspeakRow): Row => {
  const voice = `${espeakLanguages[locale] ?? "en-us"}${variant}`
  return { id, gender, locale, engine: "espeak", voice, pitchPercent, gainDb, quality: "basic", tags }
}

/** The locales of the models that route by language. */
const routedLocales = ["en-US", "en-GB", "de-DE", "es-ES", "es-MX", "fr-FR", "it-IT", "pt-BR"]
const routedModels: ReadonlyArray<ModelId> = ["tts-3.0", "tts-multilingual", "tts-dialogue-1.0"]
const englishModels: ReadonlyArray<ModelId> = ["tts-3.2", "tts-english"]
/** The model for languages beyond those, which no other model promises. */
const widestModel: ModelId = "tts-multilingual"

const isEnglish = (locale: string) => locale.startsWith("en-")

/** `also`: the locales that the voice speaks beside its own; a recorded voice has none. */
export const modelsOf = (locale: string, also: ReadonlyArray<string>): ReadonlyArray<VoiceModel> => {
  if (!routedLocales.includes(locale)) return [{ name: widestModel, languages: [locale] }]
  const languages = [locale, ...also.filter((other) => other !== locale)]
  const english = isEnglish(locale) ? englishModels : []
  return [
    ...routedModels.map((name) => ({ name, languages })),
    ...english.map((name) => ({ name, languages: languages.filter(isEnglish) }))
  ]
}

const sharedVoice = (row: Row): SharedVoice => ({
  id: row.id,
  displayName: `${row.id.charAt(0).toUpperCase()}${row.id.slice(1)}`,
  gender: row.gender,
  locale: row.locale,
  quality: row.quality,
  tags: row.tags.split(" "),
  models: modelsOf(row.locale, row.engine === "espeak" ? routedLocales : []),
  engine: {
    engine: row.engine,
    name: row.voice,
    ratePercent: 100,
    pitchPercent: row.pitchPercent ?? 100,
    rangePercent: 100,
    formantPercent: 100,
    gainDb: row.gainDb
  }
})

/** The most intelligible voices first. The first voice of a language is its default. */
export const sharedVoices: ReadonlyArray<SharedVoice> = [...recordedRows, ...espeakRows.map(espeakRow)].map(sharedVoice)

/**
 * The default voice: the first one whose own locale is in the language, or in any region of it. Without a language it
 * is English, which every model speaks.
 */
export const defaultVoiceId = (
  language?: string,
  voices: ReadonlyArray<Pick<SharedVoice, "id" | "locale">> = sharedVoices
): string => {
  const wanted = (language ?? "en").toLowerCase()
  const speaksIt = ({ locale }: Pick<SharedVoice, "locale">) =>
    locale.toLowerCase() === wanted || locale.toLowerCase().startsWith(`${wanted}-`)
  return (voices.find(speaksIt) ?? voices[0])?.id ?? ""
}

const byId = new Map(sharedVoices.map((voice) => [voice.id, voice]))

export const voiceById = (id: string): SharedVoice | undefined => byId.get(id)

/** The engine's voice for this locale; undefined for a locale that the voice does not speak. */
export const engineVoice = (voice: SharedVoice, locale: string = voice.locale): EngineVoice | undefined => {
  if (locale === voice.locale) return voice.engine
  const speaks = voice.models.some((model) => model.languages.includes(locale))
  const [own, other] = [espeakLanguages[voice.locale], espeakLanguages[locale]]
  if (!speaks || own === undefined || other === undefined) return undefined
  return { ...voice.engine, name: `${other}${voice.engine.name.slice(own.length)}` }
}
