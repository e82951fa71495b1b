/** The languages in which the verbaliser speaks numbers and signs, by the locale of a text. */
import type { Language } from "../language.ts"
import { american, british } from "./english.ts"

export const languageOf = (locale: string): Language | undefined => {
  const tag = locale.toLowerCase()
  if (tag === "en" || tag.startsWith("en-us")) return american
  return tag.startsWith("en-") ? british : undefined
}
