/**
 * The shared catalogue, looked up. The English of a speaker of German is the same voice in another language:
 * with the models that route by language an espeak voice speaks all their locales, a flite voice only its own.
 */
import type { EngineVoice, ModelId } from "#contracts"
import { type EspeakRow, espeakLanguages, espeakRows, type FliteRow, fliteRows } from "./catalogue.ts"
import type { SharedVoice, VoiceModel } from "./voice.ts"

/** The locales of the models that route by language. */
const routedLocales = ["en-US", "en-GB", "de-DE", "es-ES", "es-MX", "fr-FR", "it-IT", "pt-BR"]
const routedModels: ReadonlyArray<ModelId> = ["tts-3.0", "tts-multilingual", "tts-dialogue-1.0"]
const englishModels: ReadonlyArray<ModelId> = ["tts-3.2", "tts-english"]
/** For the languages beyond those, which no other model promises. */
const widestModel: ModelId = "tts-multilingual"

const isEnglish = (locale: string) => locale.startsWith("en-")

const modelsOf = (locale: string, others: ReadonlyArray<string>): ReadonlyArray<VoiceModel> => {
  if (!routedLocales.includes(locale)) return [{ name: widestModel, languages: [locale] }]
  const languages = [locale, ...others.filter((other) => other !== locale)]
  const english = isEnglish(locale) ? englishModels : []
  return [
    ...routedModels.map((name) => ({ name, languages })),
    ...english.map((name) => ({ name, languages: languages.filter(isEnglish) }))
  ]
}

const fromEspeak = (row: EspeakRow): SharedVoice => ({
  id: row.id,
  displayName: row.name,
  gender: row.gender,
  locale: row.locale,
  tags: row.tags,
  models: modelsOf(row.locale, routedLocales),
  engine: {
    engine: "espeak",
    name: `${espeakLanguages[row.locale] ?? "en-us"}${row.variant}`,
    ratePercent: 100,
    pitchPercent: row.pitchPercent,
    rangePercent: 100,
    formantPercent: 100,
    gainDb: row.gainDb
  }
})

const fromFlite = (row: FliteRow): SharedVoice => ({
  id: row.id,
  displayName: row.name,
  gender: row.gender,
  locale: "en-US",
  tags: row.tags,
  models: modelsOf("en-US", []),
  engine: {
    engine: "flite",
    name: row.voice,
    ratePercent: 100,
    pitchPercent: 100,
    rangePercent: 100,
    formantPercent: 100,
    gainDb: row.gainDb
  }
})

/** The best understood first; each language's first voice is what one is spoken with who names none. */
export const sharedVoices: ReadonlyArray<SharedVoice> = [...fliteRows.map(fromFlite), ...espeakRows.map(fromEspeak)]

/** Whose voice it is that nobody chose: the first that speaks the language, or any region of it, as its own. */
export const defaultVoiceId = (language?: string): string => {
  const asked = language?.toLowerCase()
  const speaksIt = ({ locale }: SharedVoice) =>
    asked === undefined || locale.toLowerCase() === asked || locale.toLowerCase().startsWith(`${asked}-`)
  return sharedVoices.find(speaksIt)?.id ?? fliteRows[0]?.id ?? ""
}

const byId = new Map(sharedVoices.map((voice) => [voice.id, voice]))

export const voiceById = (id: string): SharedVoice | undefined => byId.get(id)

/** How an engine speaks this locale in this voice; nothing for a locale that the voice does not speak. */
export const engineVoice = (voice: SharedVoice, locale: string = voice.locale): EngineVoice | undefined => {
  if (locale === voice.locale) return voice.engine
  const speaks = voice.models.some((model) => model.languages.includes(locale))
  const [own, other] = [espeakLanguages[voice.locale], espeakLanguages[locale]]
  if (!speaks || own === undefined || other === undefined) return undefined
  return { ...voice.engine, name: `${other}${voice.engine.name.slice(own.length)}` }
}
