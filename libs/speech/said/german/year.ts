/** German years and decades: "1999", "80er Jahre", "5er-Pack". Pure. */
import { isYear } from "../kinds/range.ts"
import type { Kind } from "../language.ts"
import { following, said, wordAt } from "../word.ts"

/** Four digits below 2000 without a point are said in hundreds, unless something is measured. */
export const yearInWords: Kind = (place, language) => {
  const core = wordAt(place)?.core ?? ""
  const next = following(place)?.core ?? ""
  return isYear(core) && language.units.get(next) === undefined ? said(language.year(core)) : undefined
}

export const decade: Kind = (place, language) => {
  const [, digits, ending = "", rest = ""] =
    /^(\d{1,4})(ern?)((?:-\p{L}[\p{L}-]{0,30})?)$/u.exec(wordAt(place)?.core ?? "") ?? []
  if (digits === undefined) return undefined
  const name = isYear(digits) ? language.year(digits) : language.cardinal(digits)
  return said(`${name}${ending}${rest}`)
}
