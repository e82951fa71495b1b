/** Signs as English words: units and currencies, the symbols in addresses, and those that are spelled out. */
import { cardinal, decimal } from "./numbers.ts"

const units = new Map<string, readonly [one: string, many: string]>(
  (
    [
      ["km", "kilometer"],
      ["m", "meter"],
      ["cm", "centimeter"],
      ["mm", "millimeter"],
      ["mi", "mile"],
      ["yd", "yard"],
      ["ft", "foot", "feet"],
      ["kg", "kilogram"],
      ["g", "gram"],
      ["mg", "milligram"],
      ["lb", "pound"],
      ["lbs", "pound"],
      ["oz", "ounce"],
      ["ml", "milliliter"],
      ["l", "liter"],
      ["L", "liter"],
      ["GB", "gigabyte"],
      ["MB", "megabyte"],
      ["kB", "kilobyte"],
      ["KB", "kilobyte"],
      ["TB", "terabyte"],
      ["Hz", "hertz", "hertz"],
      ["kHz", "kilohertz", "kilohertz"],
      ["MHz", "megahertz", "megahertz"],
      ["GHz", "gigahertz", "gigahertz"],
      ["ms", "millisecond"],
      ["s", "second"],
      ["sec", "second"],
      ["min", "minute"],
      ["h", "hour"],
      ["hr", "hour"],
      ["hrs", "hour"],
      ["W", "watt"],
      ["kW", "kilowatt"],
      ["kWh", "kilowatt hour"],
      ["V", "volt"],
      ["A", "amp"],
      ["mph", "mile per hour", "miles per hour"],
      ["kph", "kilometer per hour", "kilometers per hour"],
      ["km/h", "kilometer per hour", "kilometers per hour"],
      ["m/s", "meter per second", "meters per second"],
      ["°C", "degree Celsius", "degrees Celsius"],
      ["°F", "degree Fahrenheit", "degrees Fahrenheit"],
      ["°", "degree"],
      ["%", "percent", "percent"],
      ["dB", "decibel"]
    ] as ReadonlyArray<readonly [string, string, string?]>
  ).map(([unit, one, many]) => [unit, [one, many ?? `${one}s`]])
)

const measure = /^([+−-]?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,10})?)(\D{1,4})$/u

/** "5km" is "five kilometers"; undefined if no unit follows the number. */
export const readMeasure = (text: string): string | undefined => {
  const [, number = "", unit = ""] = measure.exec(text) ?? []
  const names = units.get(unit)
  if (names === undefined) return undefined
  return `${decimal(number)} ${number === "1" ? names[0] : names[1]}`
}

const currencies: Readonly<Record<string, readonly [string, string, string, string]>> = {
  $: ["dollar", "dollars", "cent", "cents"],
  "€": ["euro", "euros", "cent", "cents"],
  "£": ["pound", "pounds", "penny", "pence"],
  "¥": ["yen", "yen", "sen", "sen"],
  "₹": ["rupee", "rupees", "paisa", "paise"]
}

const magnitudes: Readonly<Record<string, string>> = {
  k: "thousand",
  thousand: "thousand",
  m: "million",
  million: "million",
  bn: "billion",
  b: "billion",
  billion: "billion",
  tn: "trillion",
  trillion: "trillion"
}

/** Words that can follow an amount of money and belong to it. */
export const isMagnitude = (word: string): boolean => word.length > 2 && Object.hasOwn(magnitudes, word)

const money = /^(-?)([$€£¥₹])(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.(\d{1,4}))?([a-z]{1,8})?$/iu

/** "$5.50" is "five dollars and fifty cents", "$5.2million" is "five point two million dollars". */
export const readMoney = (text: string): string | undefined => {
  const [, minus, sign = "", whole = "", fraction, suffix] = money.exec(text) ?? []
  const names = currencies[sign]
  if (names === undefined) return undefined
  const before = minus === "-" ? "minus " : ""
  if (suffix !== undefined) {
    const magnitude = Object.hasOwn(magnitudes, suffix.toLowerCase()) ? magnitudes[suffix.toLowerCase()] : undefined
    if (magnitude === undefined) return undefined
    return `${before}${decimal(fraction === undefined ? whole : `${whole}.${fraction}`)} ${magnitude} ${names[1]}`
  }
  if (fraction !== undefined && fraction.length !== 2) return `${before}${decimal(`${whole}.${fraction}`)} ${names[1]}`
  const amount = `${before}${cardinal(whole)} ${whole === "1" ? names[0] : names[1]}`
  if (fraction === undefined || fraction === "00") return amount
  const cents = `${cardinal(String(Number(fraction)))} ${fraction === "01" ? names[2] : names[3]}`
  return Number(whole) === 0 ? `${before}${cents}` : `${amount} and ${cents}`
}

const symbols = new Map([
  [".", "dot"],
  ["@", "at"],
  ["/", "slash"],
  ["\\", "backslash"],
  ["-", "dash"],
  ["_", "underscore"],
  [":", "colon"],
  [";", "semicolon"],
  [",", "comma"],
  ["?", "question mark"],
  ["!", "exclamation mark"],
  ["&", "and"],
  ["=", "equals"],
  ["+", "plus"],
  ["#", "hash"],
  ["%", "percent"],
  ["~", "tilde"],
  ["*", "star"],
  ["'", "apostrophe"],
  ['"', "quote"],
  ["(", "open parenthesis"],
  [")", "close parenthesis"],
  ["$", "dollar"]
])

export const symbolName = (character: string): string | undefined => symbols.get(character)

const schemes = ["https://", "http://", "ftp://"]
const afterDots = new Set(
  "com org net edu gov io ai app dev co uk de fr es it br mx eu us info biz me tv ch at nl be pl pt ca au".split(" ")
)
const host = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/iu
const mailbox = /^[a-z0-9._%+-]{1,64}$/iu

/** "www.example.com/a" is "w w w dot example dot com slash a"; undefined if it is not an address. */
export const readAddress = (text: string): string | undefined => {
  if (text.length > 300) return undefined
  const at = text.indexOf("@")
  if (at > 0) {
    const isMail = mailbox.test(text.slice(0, at)) && host.test(text.slice(at + 1))
    return isMail ? spell(text) : undefined
  }
  const scheme = schemes.find((scheme) => text.toLowerCase().startsWith(scheme)) ?? ""
  const rest = text.slice(scheme.length)
  const name = rest.slice(0, endOfHost(rest))
  if (!host.test(name)) return undefined
  const isNamed = scheme !== "" || name.toLowerCase().startsWith("www.") || isDomain(name)
  return isNamed ? spell(rest.endsWith("/") ? rest.slice(0, -1) : rest) : undefined
}

const endOfHost = (text: string) => {
  const found = text.search(/[/?#:]/u)
  return found === -1 ? text.length : found
}

// "e.g" and "3.14" have dots too, so only a name with a well-known ending is spoken as an address.
const isDomain = (name: string) => {
  const labels = name.toLowerCase().split(".")
  return afterDots.has(labels.at(-1) ?? "") && (labels.at(-2) ?? "").length > 1
}

const spell = (text: string) => {
  let spoken = ""
  for (const character of text) {
    const name = symbols.get(character)
    spoken += name === undefined ? character : ` ${name} `
  }
  return spoken
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => (word.toLowerCase() === "www" ? "w w w" : word))
    .join(" ")
}
