/** Numbers by themselves: cardinals, ordinals, decimals, years. Pure. */
import type { Language } from "../language.ts"
import { readNumber, sayNumber } from "../number.ts"
import type { Place } from "../word.ts"

export const sayPlain = (core: string, language: Language, _place?: Place): string | undefined => {
  const [, owner, own = ""] = /^([\d.,]{1,40}(?:st|nd|rd|th)?)(['’]s)$/u.exec(core) ?? []
  const of = owner === undefined ? undefined : sayPlain(owner, language)
  if (of !== undefined) return `${of}${own}`
  const [, nth] = language.ordinalSign.exec(core) ?? []
  if (nth !== undefined) return language.ordinal(nth, isFeminine(core) ? "feminine" : "masculine")
  const number = readNumber(core, language)
  return number === undefined ? undefined : sayNumber(number, language)
}

/** "3ª", "1re", "3a". */
const isFeminine = (core: string) => /\d(?:ª|a|re|ère)$/u.test(core)
