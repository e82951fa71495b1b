/** Sums, powers and ratios within a word. Pure. */
import type { Language, Reader } from "../language.ts"
import type { Place } from "../word.ts"
import { readNumber, sayNumber } from "../number.ts"

const operators = /[+−*/×÷·=<>≤≥≠≈-]/u
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"

export const sayMath = (core: string, language: Language, place: Place, say: Reader): string | undefined =>
  crossed(core, language, (text) => say(text, language, place) ?? text) ??
  equation(core, language, place, say) ??
  scientific(core, language) ??
  power(core, language, place, say) ??
  ratio(core, language)

/** "4×4" is "four by four", and "3x" is "three times". */
export const crossed = (core: string, language: Language, rest: (text: string) => string) => {
  if (/^\d[\d.,]*(?:[x×]\d[\d.,]*){1,3}\p{L}{0,3}$/u.test(core)) {
    return core.split(/[x×]/u).map(rest).join(` ${language.words.by} `)
  }
  const [, times] = /^(\d[\d.,]{0,8})[×x]$/u.exec(core) ?? []
  return times === undefined ? undefined : `${rest(times)} ${language.signs["×"] ?? "x"}`
}

/** "1-2=-1", "2+2=4": an equals sign, or a sign that is nothing but arithmetic. */
const equation = (core: string, language: Language, place: Place, say: Reader) => {
  if (core.length > 40 || !/^[\p{L}\d.,()+−*/×÷=<>^²³-]+$/u.test(core) || !/\d/u.test(core)) return undefined
  if (!/[=+×÷*](?=[\p{L}\d(-])/u.test(core) || !/^[\d(+−-]/u.test(core)) return undefined
  if (/\p{L}{2}/u.test(core)) return undefined
  const parts = Array.from(core.matchAll(/(?<=^|[=<>(×*÷])[-−]\d[\d.,]*|[\d.,]+|\p{L}|[=<>]=|./gsu), ([part]) => {
    if (/\d/u.test(part) || /\p{L}/u.test(part)) return say(part, language, place) ?? part
    return operators.test(part) ? (language.operators[part] ?? "") : ""
  })
  return parts.filter((part) => part !== "").join(" ")
}

/** "1.5e-3". */
const scientific = (core: string, language: Language) => {
  const [, digits = "", exponent = ""] = /^([+−-]?\d[\d.,]{0,20})[eE]([+−-]?\d{1,3})$/u.exec(core) ?? []
  const number = readNumber(digits, language)
  if (number === undefined || !/[-+−]|\./u.test(core)) return undefined
  const ten = language.cardinal("10")
  const sign = exponent.replace("−", "-").replace("+", "")
  return `${sayNumber(number, language)} ${language.operators["×"] ?? ""} ${ten} ${language.words.power(sign)}`
}

const power = (core: string, language: Language, place: Place, say: Reader) => {
  const [, base = "", written = "", raised = ""] =
    /^([\p{L}\d.,)]{1,20})(?:\^([-−]?\d{1,4})|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))$/u.exec(core) ?? []
  if (base === "") return undefined
  const exponent = written !== "" ? written.replace("−", "-") : plainExponent(raised)
  const spoken = say(base, language, place) ?? base
  if (exponent === "2") return `${spoken} ${language.words.squared}`
  if (exponent === "3") return `${spoken} ${language.words.cubed}`
  return `${spoken} ${language.words.power(exponent)}`
}

const plainExponent = (raised: string) =>
  Array.from(raised, (sign) => (sign === "⁻" ? "-" : String(superscripts.indexOf(sign)))).join("")

/** "16:9", "2:1". */
const ratio = (core: string, language: Language) => {
  const [, left, right] = /^(\d{1,4}):(\d{1,4})$/u.exec(core) ?? []
  return left === undefined || right === undefined
    ? undefined
    : `${language.cardinal(left)} ${language.words.to} ${language.cardinal(right)}`
}
