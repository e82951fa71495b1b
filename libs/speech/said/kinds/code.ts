/** Names of letters and digits: models, flights, versions, identifiers of programs. Pure. */
import type { Language, Reader } from "../language.ts"
import { digitByDigit } from "../number.ts"

/** "v1.2.3", "10.0.0.1". */
const version = /^([vV~^])?(\d{1,5}(?:\.\d{1,5}){1,5})([a-z]{0,5}\d{0,3})$/u
const mixed = /^[\p{L}\d_][\p{L}\d_./:@'’&=()[\]{}<>|#$%+~^-]{0,99}$/u

export const sayCode: Reader = (core, language) => {
  const [, letter, digits] = version.exec(core) ?? []
  if (digits !== undefined && (letter !== undefined || digits.split(".").length > 2)) return sayVersion(core, language)
  if (!mixed.test(core)) return undefined
  if (isIdentifier(core))
    return Array.from(core, (sign) =>
      sign === "-" ? "," : (language.symbols[sign] ?? (/\d/u.test(sign) ? language.cardinal(sign) : sign))
    )
      .join(" ")
      .replaceAll(" ,", ",")
  if (/\d/u.test(core) || /[_=]|\(\)|::|->/u.test(core)) return sayPieces(core, language)
  return saySlashed(core, language)
}

/** Hexadecimal, or a password for once: each sign by itself. */
const isIdentifier = (core: string) =>
  /\p{L}/u.test(core) &&
  /\d/u.test(core) &&
  (/^[0-9a-f]{6,40}(?:-[0-9a-f]{4,40}){0,5}$/u.test(core) ||
    /^\p{Ll}{1,3}\d{4,12}$/u.test(core) ||
    /^0x[0-9a-f]{2,32}$/iu.test(core) ||
    /^(?=.*\d.*\d.*\d)[A-Z\d]{9,32}$/u.test(core))

/** "and/or" is spoken without its slash. */
const saySlashed = (core: string, language: Language) => {
  if (!/^\p{L}{1,20}(?:\/\p{L}{1,20}){1,3}$/u.test(core)) return undefined
  const [, counted, unit = ""] = /^(\p{Ll}{2,12})\/(\p{L}{1,5})$/u.exec(core) ?? []
  const noun = counted === undefined ? undefined : language.units.get(unit)
  if (noun !== undefined) return `${language.units.get(counted ?? "")?.many ?? counted} ${language.per} ${noun.one}`
  const isSilent = /^and\/or$/iu.test(core) || /^\p{Lu}\/\p{Lu}$/u.test(core)
  return core.replaceAll("/", isSilent ? " " : ` ${language.symbols["/"] ?? ""} `)
}

const sayVersion = (core: string, language: Language) => {
  const [, letter, digits = "", tail = ""] = version.exec(core) ?? []
  const parts = digits.split(".").map((part) => sayShort(part, language))
  const dot = parts.length === 4 ? (language.symbols["."] ?? language.point) : language.point
  const name = letter === "~" || letter === "^" ? language.symbols[letter] : language.signs["v"]
  const spoken = [letter === undefined ? "" : (name ?? letter), parts.join(` ${dot} `)]
  return [...spoken, tail === "" ? "" : sayPieces(tail, language)].filter((part) => part !== "").join(" ")
}

const pieces = /\p{Lu}{2,4}(?=v\d)|v(?=\d)|\p{Lu}+(?!\p{Ll})|\p{L}+(?:['’]\p{L}+)?|\d+(?:\.\d+)*|./gsu

/** Each stretch of letters, digits and signs by itself. */
const sayPieces = (core: string, language: Language): string => {
  const spoken: Array<string> = []
  for (const { 0: piece, index } of core.matchAll(pieces)) {
    if (/^\d/u.test(piece)) spoken.push(sayDigits(piece, language))
    else if (piece === "v") spoken.push(language.signs["v"] ?? piece)
    else if (/^\p{Lu}{1,3}$/u.test(piece) && !/_/u.test(core) && language.acronyms?.has(piece) !== true)
      spoken.push(Array.from(piece).join(" "))
    else if (/^\p{L}/u.test(piece)) spoken.push(piece)
    else if (piece === "/" && /\d/u.test(core[index - 1] ?? "")) spoken.push(language.symbols[piece] ?? "")
    else if (!silent.has(piece))
      spoken.push((piece === "~" ? undefined : language.signs[piece]) ?? language.symbols[piece] ?? "")
  }
  return spoken.filter((part) => part !== "").join(" ")
}

/** Signs that only join: nobody says the hyphen of "COVID-19" or the line of "user_id". */
const silent = new Set("-_/()[]{}'’:<>|".split(""))

const sayDigits = (digits: string, language: Language) =>
  digits.includes(".")
    ? digits
        .split(".")
        .map((part) => sayShort(part, language))
        .join(` ${language.point} `)
    : sayShort(digits, language)

/** "19" is nineteen, "380" three eighty, "2490" twenty-four ninety; more digits are a row. */
const sayShort = (digits: string, language: Language): string => {
  if (/^0\d/u.test(digits) || digits.length > 4) return digitByDigit(digits, language)
  return language.sayLabel(digits)
}
