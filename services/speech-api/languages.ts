/** Which language is spoken: a model's list, the request's `language`, else the voice's own. Pure. */
import type { SpeechModel } from "#contracts"
import type { SharedVoice } from "#speech"

const baseOf = (locale: string) => locale.split("-")[0]?.toLowerCase() ?? ""

export const speaksEnglish = (locale: string) => baseOf(locale) === "en"

/** `en` in a model's list stands for every English; a bare language asks for any region of it. */
export const supportsLanguage = (model: SpeechModel, language: string): boolean =>
  model.languages.some((known) => isInRange(language, known) || isInRange(known, language))

/** The locale a voice is to speak: of those it has, the one asked for; nothing when it has none such. */
export const spokenLocale = (
  voice: Pick<SharedVoice, "locale" | "models">,
  model: SpeechModel,
  language: string | undefined
) => {
  const ofModel = voice.models.find(({ name }) => name === model.id)
  if (ofModel === undefined) return undefined
  return language === undefined ? voice.locale : ofModel.languages.find((locale) => isInRange(locale, language))
}

/** Whole subtags: `en` takes `en-US`, `e` takes nothing. */
export const isInRange = (locale: string, range: string) => {
  const [tag, wanted] = [locale.toLowerCase(), range.toLowerCase()]
  return tag === wanted || tag.startsWith(`${wanted}-`)
}
