/** Signs before, behind and between words: of mathematics, of prose and of code. Pure. */
import type { Language, Reader } from "../language.ts"
import { following, type Place, previousCore, wordAt } from "../word.ts"

const signBefore = /^(<=|>=|!=|==|[±~≈≤≥<>=≠√#@§∼≃])([^=].{0,80})$/u
const signBehind = /^(.{1,80}?)([+*†‡©®™!]|\+\+)$/u
const between = /^([\p{L}\d.,)(]{1,24})([+×*=<>≤≥≠≈÷]|==|!=|<=|>=|->|=>|→|&&|\|\|)([^+×*=<>≤≥≠≈÷\s]{1,24}.{0,60})$/u

/** "l'8%", "d'1,5": the article or the preposition runs into the number. */
export const sayElided = (core: string, language: Language, place: Place, say: Reader): string | undefined => {
  const [, article, rest = ""] = /^(\p{L}{1,5}['’])(\d.{0,60})$/u.exec(core) ?? []
  const text = article === undefined ? undefined : say(rest, language, place)
  return text === undefined ? undefined : `${article}${text}`
}

/** `say`: how the rest of the word is spoken. */
export const saySigned = (core: string, language: Language, place: Place, say: Reader): string | undefined => {
  // "12 cm × 20 cm": sides.
  if (
    /^[x×]$/u.test(core) &&
    /^\d/u.test(wordAt(place, 1)?.core ?? "") &&
    /^(?:[kcm]?m|ft|in|yd)$/u.test(previousCore(place))
  )
    return language.words.by
  if (Object.hasOwn(language.operators, core) && isBetweenNumbers(place)) return language.operators[core]
  if (core === "#" && place.at > 0) return language.words.number
  // "File > Run"
  if (core === ">" && /\p{L}{2}/u.test(previousCore(place)) && /^\p{L}{2}/u.test(following(place)?.core ?? ""))
    return ""
  if (Object.hasOwn(language.signs, core)) return language.signs[core]
  const rest = (text: string) => say(text, language, place) ?? text
  const [, before = "", after = ""] = signBefore.exec(core) ?? []
  const name = nameBefore(before, after, language)
  if (name !== undefined) return `${name} ${rest(after.replace(/>$/u, ""))}`.trim()
  // A tag's or a type's bracket: "Promise<User>".
  if (/\p{L}[<>]/u.test(core))
    return core
      .split(/[<>]/u)
      .filter((part) => part !== "")
      .map(rest)
      .join(" ")
  return joined(core, language, rest)
}

const isBetweenNumbers = (place: Place) =>
  // A slash divides numbers and letters, and stands between "120 kg" and "265 lb" for nothing.
  (wordAt(place)?.core !== "/" || /^(?:\d[\d.,]*|\p{L})$/u.test(previousCore(place))) &&
  [previousCore(place), following(place)?.core ?? ""].every(
    (core) =>
      /^(?:[^\p{L}]{0,12}|\d{0,6}\p{L}[²³]?|\p{L}{2,12}\(?[\p{L}\d]?\)?)$/u.test(core) && /[\p{L}\d]/u.test(core)
  )

const nameBefore = (sign: string, after: string, language: Language) => {
  if (sign === "") return undefined
  if (sign === "#") return /^\d/u.test(after) ? language.words.number : (language.signs["#"] ?? "")
  if (/^[<>]$/u.test(sign) && /^\/?\p{L}/u.test(after)) return ""
  if (sign === "~" || sign === "∼" || sign === "≃")
    return /^[^\p{L}]*\d/u.test(after) ? language.words.about : undefined
  if (sign === "@") return /^[\p{L}\d_]/u.test(after) ? language.symbols["@"] : undefined
  return language.signs[sign]
}

const joined = (core: string, language: Language, rest: (text: string) => string) => {
  const [, left, sign = "", right] = between.exec(core) ?? []
  if (left !== undefined && right !== undefined) {
    const name =
      sign === "*" && !/\d$/u.test(left) ? language.symbols["*"] : (language.signs[sign] ?? language.symbols[sign])
    return name === undefined ? undefined : `${rest(left)} ${name} ${rest(right)}`
  }
  const [, plain, mark = ""] = signBehind.exec(core) ?? []
  if (plain === undefined || !/\d[kKMB]?$/u.test(plain))
    return /[©®™]$/u.test(core) ? rest(core.slice(0, -1)) : undefined
  return mark === "+" ? `${rest(plain)} ${language.words.plus}` : rest(plain)
}
