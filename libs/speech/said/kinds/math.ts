/** Sums, powers and ratios within a word. Pure. */
import type { Language, Reader } from "../language.ts"
import { following, type Place, previousCore } from "../word.ts"
import { readNumber, sayNumber, type WrittenNumber } from "../number.ts"
import { sayPlain } from "./plain.ts"

const operators = /[+−*/×÷·=<>≤≥≠≈-]/u
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"

export const sayMath = (core: string, language: Language, place: Place, say: Reader) => {
  const rest = (text: string) => say(text, language, place) ?? text
  return (
    variable(core, language, place) ??
    greek(core, language, rest) ??
    ofTen(core, language) ??
    crossed(core, language, rest) ??
    equation(core, language, rest) ??
    scientific(core, language) ??
    power(core, language) ??
    applied(core, language, rest) ??
    ratio(core, language)
  )
}

/** "2x" beside a plus is a letter. */
const variable = (core: string, language: Language, place: Place) => {
  const [, times, letter] = /^(\d{1,6})(\p{Ll})$/u.exec(core) ?? []
  const isTerm = [previousCore(place), following(place)?.core ?? ""].some((side) => /^[+−=<>≤≥≠*/-]$/u.test(side))
  return times === undefined || !isTerm ? undefined : `${sayPlain(times, language)} ${letter}`
}

/** "πr²", "2π/3", "ΔT": each letter is a name. */
const greek = (core: string, language: Language, rest: (text: string) => string) => {
  const [, times = "", letter = "", behind = "", below = ""] =
    /^(\d{0,4})(\p{Script=Greek})(\p{Script=Latin}?[²³]?)((?:\/\d{1,4})?)$/u.exec(core) ?? []
  const name = language.signs[letter] ?? language.signs[letter.toLowerCase()]
  if (name === undefined || core === letter) return undefined
  const over = below === "" ? "" : `${language.operators["/"] ?? ""} ${rest(below.slice(1))}`
  return [rest(times), name, rest(behind), over].filter((part) => part !== "").join(" ")
}

/** "4×4" is "four by four", and "3x" is "three times". */
export const crossed = (core: string, language: Language, rest: (text: string) => string) => {
  const [, product, tail = ""] = /^(?!0x)(\d[\d.,]*(?:[x×]\d[\d.,]*){1,3})(-?\p{L}{1,5})?$/u.exec(core) ?? []
  if (product !== undefined) {
    const sides = product.split(/[x×]/u)
    const last = tail.startsWith("-") ? `${rest(sides.at(-1) ?? "")}${tail}` : rest(`${sides.at(-1)}${tail}`)
    return [...sides.slice(0, -1).map(rest), last].join(` ${language.words.by} `)
  }
  const [, times] = /^(\d{1,6}(?:[.,]\d{1,4})?)[×x]$/u.exec(core) ?? []
  return times === undefined ? undefined : `${rest(times)} ${language.signs["×"] ?? "x"}`
}

/** "1-2=-1", "2+2=4": an equals sign, or a sign that is nothing but arithmetic. */
const equation = (core: string, language: Language, rest: (text: string) => string) => {
  if (core.length > 40 || !/^[\p{L}\d.,()+−*/×÷=<>^²³-]+$/u.test(core) || !/\d/u.test(core)) return undefined
  if (!/[=+×÷*](?=[\p{L}\d(-])/u.test(core) || !/^[\d(+−-]/u.test(core)) return undefined
  if (/\p{L}{2}/u.test(core)) return undefined
  const parts = Array.from(core.matchAll(/(?<=^|[=<>(×*÷])[-−]\d[\d.,]*|[\d.,]+|\p{L}|[=<>]=|./gsu), ([part]) => {
    if (/\d/u.test(part) || /\p{L}/u.test(part)) return rest(part)
    return operators.test(part) ? (language.operators[part] ?? "") : ""
  })
  return parts.filter((part) => part !== "").join(" ")
}

/** "3×10^8". */
export const ofTen = (core: string, language: Language): string | undefined => {
  const [, digits = "", exponent = ""] =
    /^([−-]?\d[\d.,]{0,12})[x×*·]10\^?([-−⁻]?[\d⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})$/u.exec(core) ?? []
  const number = /[\^⁻⁰¹²³⁴⁵⁶⁷⁸⁹]/u.test(core) ? readNumber(digits, language) : undefined
  return number === undefined ? undefined : timesTen(number, plainExponent(exponent), language)
}

const timesTen = (number: WrittenNumber, exponent: string, language: Language) =>
  `${sayNumber(number, language)} ${language.operators["×"] ?? ""} ${language.cardinal("10")} ${language.words.power(exponent)}`

/** "1.5e-3". */
const scientific = (core: string, language: Language) => {
  const [, digits = "", exponent = ""] = /^([+−-]?\d[\d.,]{0,20})[eE]([+−-]?\d{1,3})$/u.exec(core) ?? []
  const number = readNumber(digits, language)
  if (number === undefined || !/[-+−]|\./u.test(core)) return undefined
  return timesTen(number, exponent.replace("−", "-").replace("+", ""), language)
}

/** "10^24", "x²", "3x²". */
export const power = (core: string, language: Language): string | undefined => {
  const [, base = "", written = "", raised = ""] =
    /^([\p{L}\d.,)]{1,20})(?:\^([-−]?\d{1,4})|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))$/u.exec(core) ?? []
  if (base === "") return undefined
  const exponent = written !== "" ? written.replace("−", "-") : plainExponent(raised)
  const [, times, letter = base] = /^(\d{1,6})(\p{Ll})$/u.exec(base) ?? []
  const spoken = [times, letter]
    .flatMap((part) => (part === undefined ? [] : [sayPlain(part, language) ?? part]))
    .join(" ")
  if (exponent === "2") return `${spoken} ${language.words.squared}`
  if (exponent === "3") return `${spoken} ${language.words.cubed}`
  return `${spoken} ${language.words.power(exponent)}`
}

const plainExponent = (raised: string) =>
  Array.from(raised, (sign) =>
    /[-−⁻]/u.test(sign) ? "-" : /\d/u.test(sign) ? sign : String(superscripts.indexOf(sign))
  ).join("")

/** "O(n²)" is "O of n squared", "f(x)" "f of x". */
const applied = (core: string, language: Language, rest: (text: string) => string) => {
  const [, name, inner = ""] = /^(\p{L})\(([^()]{1,16})\)$/u.exec(core) ?? []
  return name === undefined ? undefined : `${name} ${language.words.of} ${rest(inner)}`
}

/** "16:9", "2:1". */
const ratio = (core: string, language: Language) => {
  const [, left, right] = /^(\d{1,4}):(\d{1,4})$/u.exec(core) ?? []
  return left === undefined || right === undefined
    ? undefined
    : `${language.cardinal(left)} ${language.words.against} ${language.cardinal(right)}`
}
