/**
 * Which models speak with a cloned voice, and which languages: those of the catalogue's voices of its locale. The
 * expressive model does so for some workspaces only. Pure.
 */
import type { ModelId } from "#contracts"
import { type SharedVoice, sharedVoices } from "#speech"

export const expressiveModel: ModelId = "tts-3.2"

const modelsByLocale = new Map(
  sharedVoices.filter(({ engine }) => engine.engine === "espeak").map(({ locale, models }) => [locale, models])
)

/** What the locale of a cloned voice may be. */
export const clonableLocales: ReadonlyArray<string> = [...modelsByLocale.keys()]

export const clonedModels = (locale: string, isExpressive: boolean): SharedVoice["models"] =>
  (modelsByLocale.get(locale) ?? []).filter(({ name }) => isExpressive || name !== expressiveModel)
