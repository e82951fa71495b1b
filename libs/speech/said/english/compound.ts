/** English compounds with a number in them: "19th-century", "mid-1980s", "5-year-old". Pure. */
import { sayPlain } from "../kinds/plain.ts"
import { isYear } from "../kinds/range.ts"
import type { Kind, Language } from "../language.ts"
import { said, wordAt } from "../word.ts"
import { decadeName, pluralOf } from "./year.ts"

/** Each part between hyphens is said by itself. */
export const compound: Kind = (place, language) => {
  const core = wordAt(place)?.core ?? ""
  if (
    core.length > 60 ||
    !/\d/u.test(core) ||
    !/\p{L}/u.test(core) ||
    !/^[\p{L}\d.,'’]+(?:[-–][\p{L}\d.,'’]+)+$/u.test(core)
  )
    return undefined
  const parts = core.split(/[-–]/u).map((part) => partOf(part, language))
  return parts.includes(undefined) ? undefined : said(parts.join("-"))
}

const partOf = (part: string, language: Language): string | undefined => {
  if (!/\d/u.test(part)) return /^\p{Lu}{1,3}$/u.test(part) ? Array.from(part).join(" ") : part
  if (isYear(part)) return language.year(part)
  if (/^\d0s$/u.test(part)) return pluralOf(language.cardinal(part.slice(0, 2)))
  return decadeName(part, language) ?? sayPlain(part, language)
}
