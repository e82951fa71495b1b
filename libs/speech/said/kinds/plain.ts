/** Numbers by themselves: cardinals, ordinals, decimals, years. Pure. */
import type { Language } from "../language.ts"
import { readNumber, sayNumber } from "../number.ts"
import { nowhere, type Place } from "../word.ts"

export const sayPlain = (core: string, language: Language, place?: Place): string | undefined => {
  const [, owner, own = ""] = /^([\d.,]{1,40}(?:st|nd|rd|th)?)(['’]s)$/u.exec(core) ?? []
  const of = owner === undefined ? undefined : sayPlain(owner, language)
  if (of !== undefined) return `${of}${own}`
  const nth = language.sayOrdinal(core, language, place ?? nowhere)
  if (nth !== undefined) return nth
  const [, ofCentury] = /^['’‘](\d{2,3})$/u.exec(core) ?? []
  if (ofCentury !== undefined) return language.year(ofCentury)
  const number = readNumber(/^\d{1,3}(?:_\d{3}){1,5}$/u.test(core) ? core.replaceAll("_", "") : core, language)
  if (number === undefined) return undefined
  return sayNumber(number, language, place === undefined ? undefined : language.genderAt?.(place))
}
