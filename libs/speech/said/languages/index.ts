/** The languages in which the verbaliser speaks numbers and signs, by the locale of a text. */
import type { Language } from "../language.ts"
import { american, british } from "./english.ts"
import { belgian, french } from "./french.ts"
import { german } from "./german.ts"
import { italian } from "./italian.ts"
import { brazilianPortuguese, portuguese } from "./portuguese.ts"
import { hispanic, mexican, spanish } from "./spanish.ts"

/** Where another way of speaking than the language's first has its own numbers. */
const locales: Readonly<Record<string, Language>> = {
  "en-us": american,
  "fr-be": belgian,
  "fr-ch": belgian,
  "es-mx": mexican,
  "es-us": hispanic,
  "pt-pt": portuguese
}

const languages: Readonly<Record<string, Language>> = {
  en: british,
  de: german,
  es: spanish,
  fr: french,
  it: italian,
  pt: brazilianPortuguese
}

export const languageOf = (locale: string): Language | undefined => {
  const tag = locale.toLowerCase()
  if (tag === "en") return american
  const [language = "", region = ""] = tag.split("-")
  const ofRegion = `${language}-${region}`
  if (Object.hasOwn(locales, ofRegion)) return locales[ofRegion]
  return Object.hasOwn(languages, language) ? languages[language] : undefined
}
