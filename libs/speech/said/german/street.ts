/** German streets that are cut off: "Hauptstr. 12". Pure. */
import type { Kind } from "../language.ts"
import { mayEndSentence, wordAt } from "../word.ts"

export const street: Kind = (place, language) => {
  const word = wordAt(place)
  const [, name] = /^(\p{L}[\p{L}-]{2,30}s)tr$/u.exec(word?.core ?? "") ?? []
  if (name === undefined || word?.stop !== ".") return undefined
  return { parts: [`${name}traße`], takesStop: !mayEndSentence(place, language.startsSentence) }
}
