/** The languages in which the verbaliser speaks numbers and signs, by the locale of a text. */
import type { Language } from "../language.ts"
import { american, british } from "./english.ts"
import { german } from "./german.ts"

export const languageOf = (locale: string): Language | undefined => {
  const tag = locale.toLowerCase()
  if (tag === "en" || tag.startsWith("en-us")) return american
  const [language = ""] = tag.split("-")
  return Object.hasOwn(languages, language) ? languages[language] : undefined
}

const languages: Readonly<Record<string, Language>> = { en: british, de: german }
