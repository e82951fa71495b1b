/** Money: a sign or a code before or behind an amount, with a magnitude or hundredths. Pure. */
import type { Currency, Kind, Language, Noun, Reader } from "../language.ts"
import { isOne, readNumber, sayNumber, sayWhole, type WrittenNumber } from "../number.ts"
import {
  following,
  mayEndSentence,
  nowhere,
  type Place,
  previousCore,
  type Said,
  said,
  wordAt,
  type Word
} from "../word.ts"

/** ISO 4217's codes, and the signs and letters that are written for them. */
const codes: Readonly<Record<string, string>> = {
  $: "USD",
  US$: "USD",
  USD: "USD",
  A$: "AUD",
  AU$: "AUD",
  AUD: "AUD",
  C$: "CAD",
  CA$: "CAD",
  CAD: "CAD",
  NZ$: "NZD",
  NZD: "NZD",
  HK$: "HKD",
  HKD: "HKD",
  R$: "BRL",
  BRL: "BRL",
  MXN: "MXN",
  "€": "EUR",
  EUR: "EUR",
  eur: "EUR",
  "£": "GBP",
  GBP: "GBP",
  "¥": "JPY",
  JPY: "JPY",
  CNY: "CNY",
  RMB: "CNY",
  "₹": "INR",
  INR: "INR",
  CHF: "CHF",
  SEK: "SEK",
  NOK: "NOK",
  DKK: "DKK",
  PLN: "PLN",
  "₩": "KRW",
  KRW: "KRW",
  "₽": "RUB",
  RUB: "RUB",
  "₿": "BTC",
  BTC: "BTC",
  USDC: "USDC",
  "¢": "¢",
  "₺": "TRY",
  "₪": "ILS"
}

const before =
  /^([+\-−–]?)((?:US|AU|CA|NZ|HK|A|C|R)?\$|[€£¥₹₩₽₿₺₪¢]|USDC|[A-Z]{3})([+\-−–]?)([\d.,'’ \u00a0\u2009\u202f]{1,40})([A-Za-z]{0,8})$/u
const behind =
  /^([+\-−–]?)([\d.,'’ \u00a0\u2009\u202f]{1,40})([A-Za-z]{0,2})((?:US|AU|CA|NZ|HK|A|C|R)?\$|[€£¥₹₩₽₿₺₪¢]|USDC|eur|[A-Z]{3})$/u

interface Money {
  readonly amount: WrittenNumber
  readonly currency: Currency
  /** As written behind the amount: "M", "bn". */
  readonly magnitude: string
}

const readMoney = (core: string, language: Language): Money | undefined => {
  if (core.length > 48 || !/\d/u.test(core)) return undefined
  // "$(4.2)": a loss.
  const signed = core.endsWith(")") ? core.replace(/^(\p{Sc})\(([\d.,]+)\)$/u, "-$1$2") : core
  const leading = before.exec(signed)
  const trailing = leading === null ? behind.exec(signed) : null
  const [written, minus, digits, magnitude] =
    leading !== null
      ? [leading[2], `${leading[1]}${leading[3]}`, leading[4], leading[5]]
      : [trailing?.[4], trailing?.[1], trailing?.[2], trailing?.[3]]
  if (written === undefined || digits === undefined) return undefined
  const currency = currencyNamed(written, language)
  const number = readNumber(`${minus ?? ""}${digits}`, language)
  return currency === undefined || number === undefined
    ? undefined
    : { amount: number, currency, magnitude: magnitude ?? "" }
}

/** A sign may mean another currency where the language is spoken. */
const currencyNamed = (written: string, { currencies }: Language): Currency | undefined =>
  Object.hasOwn(currencies, written)
    ? currencies[written]
    : Object.hasOwn(codes, written)
      ? currencies[codes[written] ?? ""]
      : undefined

export const sayMoney: Reader = (core, language, place) => {
  const [, single = core, rate] = /^([^/]{1,40})\/(\p{L}{1,12}|1[kKM])$/u.exec(core) ?? []
  const [, whole, sign, part] = /^(\d{1,6})([€£$])(\d{2})$/u.exec(core) ?? []
  if (whole !== undefined) return sayMoney(`${whole}${language.decimalMark}${part}${sign}`, language, place)
  const money = readMoney(single, language)
  if (money === undefined) return undefined
  const text = sayAmount(isBeforeNoun(place, language) ? oneOf(money) : money, language)
  if (text === undefined || rate === undefined) return text
  // "$2.50/1M tokens"
  const unit =
    language.units.get(rate) ?? (rate.startsWith("1") ? language.magnitudes[rate.slice(1).toLowerCase()] : undefined)
  if (rate === "ea") return `${text} ${language.units.get("ea")?.one ?? rate}`
  return `${text} ${language.per} ${unit?.one ?? rate}`
}

/** "a $5 bill" is a five-dollar one. */
export const isBeforeNoun = (place: Place, language: Language, back = -1): boolean =>
  language.isAttribute?.(
    wordAt(place, isSecondSide(place, back) ? back - 2 : back)?.core ?? "",
    following(place)?.core ?? ""
  ) === true

/** "a 10 x 20 ft room" */
const isSecondSide = (place: Place, back: number) => /^[x×]$/u.test(wordAt(place, back)?.core ?? "")

const oneOf = ({ currency, ...money }: Money): Money => {
  const { part } = currency
  return {
    ...money,
    currency: { ...currency, many: currency.one, ...(part === undefined ? {} : { part: { ...part, many: part.one } }) }
  }
}

const sayAmount = ({ amount, currency, magnitude }: Money, language: Language): string | undefined => {
  if (magnitude !== "") {
    const noun = language.magnitudes[magnitude] ?? language.magnitudes[magnitude.toLowerCase()]
    return noun === undefined ? undefined : ofMagnitude(amount, noun, currency, language)
  }
  const { part, gender } = currency
  const { fraction, sign, whole } = amount
  const name =
    isOne(amount) || (whole === "1" && part !== undefined && fraction.length === 2) ? currency.one : currency.many
  if (fraction === "" || (/^0+$/u.test(fraction) && fraction.length <= 2)) {
    const counted = /0{6}$/u.test(whole) ? language.ofMagnitude(name) : name
    return `${sayNumber({ ...amount, fraction: "" }, language, gender)} ${counted}`
  }
  if (part === undefined || fraction.length !== 2) return `${sayNumber(amount, language)} ${currency.many}`
  const hundredths = String(Number(fraction))
  const parts = `${sayWhole(hundredths, language, part.gender)} ${hundredths === "1" ? part.one : part.many}`
  if (Number(whole) === 0) return sign === "-" ? `${language.words.minus} ${parts}` : parts
  return `${sayNumber({ ...amount, fraction: "" }, language, gender)} ${name} ${language.words.and} ${parts}`
}

const ofMagnitude = (amount: WrittenNumber, magnitude: Noun, { many }: Currency, language: Language) =>
  [sayNumber(amount, language, magnitude.gender), nameOf(amount, magnitude), language.ofMagnitude(many)].join(" ")

const nameOf = (amount: WrittenNumber, { many, one }: Noun) => (isOne(amount) ? one : many)

/** "$3 million" is "three million dollars"; "USD 20" and "20 EUR" are two words too. */
export const magnitudeOfMoney: Kind = (place, language) => {
  const [word, next, third] = [wordAt(place), following(place), wordAt(place, 2)]
  if (word === undefined || next === undefined) return undefined
  const money = readMoney(word.core, language)
  const magnitude = magnitudeNamed(next, language)
  if (money !== undefined && money.magnitude === "" && magnitude !== undefined) {
    const isAttribute = language.isAttribute?.(previousCore(place), following(place, 2)?.core ?? "") === true
    const name = isAttribute ? money.currency.one : money.currency.many
    const counted = `${nameOf(money.amount, magnitude)} ${language.ofMagnitude(name)}`
    return closed(place, language, [sayNumber(money.amount, language, magnitude.gender), counted])
  }
  const isTogether = third !== undefined && next.trail === "" && third.lead === ""
  if (magnitude !== undefined) return counted(place, isTogether ? third : undefined, magnitude, language)
  const behind = isTogether && next.stop === "" ? magnitudeNamed(third, language) : undefined
  const ofSign = behind === undefined ? undefined : readMoney(`${word.core}${next.core}`, language)
  if (behind !== undefined && ofSign !== undefined && !/\d/u.test(word.core)) {
    return closed(place, language, [ofMagnitude(ofSign.amount, behind, ofSign.currency, language), null, null])
  }
  return codeApart(word.core, next.core, language)
}

const magnitudeNamed = ({ core }: Word, language: Language): Noun | undefined =>
  /^\p{L}{2,9}$/u.test(core) ? language.magnitudes[core.toLowerCase()] : undefined

/** "3 Mio. €", "3 million USD", "1.5 bn": the magnitude is the second word. */
const counted = (place: Place, sign: Word | undefined, magnitude: Noun, language: Language): Said | undefined => {
  const [word, next] = [wordAt(place)?.core ?? "", wordAt(place, 1)?.core ?? ""]
  const amount = readNumber(word, language)
  if (amount === undefined) return undefined
  const parts = [sayNumber(amount, language, magnitude.gender), nameOf(amount, magnitude)]
  const currency = sign === undefined ? undefined : currencyNamed(sign.core, language)
  if (currency !== undefined) return closed(place, language, [...parts, language.ofMagnitude(currency.many)])
  const isShort = next !== magnitude.one && next !== magnitude.many && language.units.get(next) === undefined
  return isShort ? closed(place, language, parts) : undefined
}

/** The full stop of "Mio." ends a sentence only where one can end. */
const closed = (place: Place, language: Language, parts: Said["parts"]): Said => ({
  parts,
  takesStop: !mayEndSentence({ ...place, at: place.at + parts.length - 1 }, language.startsSentence)
})

const codeApart = (first: string, second: string, language: Language) => {
  const [sign = "", rate] = second.split("/", 2)
  const currency = currencyNamed(sign, language)
  if (currency !== undefined) {
    const small = rate === undefined && /^0\.\d+$/u.test(first) ? readNumber(first, language) : undefined
    if (small !== undefined) return said(sayNumber(small, language), currency.many)
    // "$20 CAD": the code says which dollar.
    const text = sayMoney(`${first.replace(/^([+−-]?)[$€£]/u, "$1")}${second}`, language, nowhere)
    return text === undefined ? undefined : splitLast(text)
  }
  if (/^\p{L}{1,2}[€$£]$/u.test(second)) {
    const text = sayMoney(`${first}${second}`, language, nowhere)
    return text === undefined ? undefined : splitLast(text)
  }
  if (currencyNamed(first.replace(/^[+\-−–]/u, ""), language) === undefined || first.length > 5) return undefined
  const [, from, to] = /^([\d.,]{1,15})[–-]([\d.,]{1,15})$/u.exec(second) ?? []
  const low = from === undefined ? undefined : readNumber(from, language)
  const text = sayMoney(`${first}${to ?? second}`, language, nowhere)
  if (text === undefined || (from !== undefined && low === undefined)) return undefined
  return said(low === undefined ? text : `${sayNumber(low, language)} ${language.words.to} ${text}`, null)
}

/** The name of the currency is the second word's. */
const splitLast = (text: string) => {
  const cut = text.lastIndexOf(" ")
  return said(text.slice(0, cut), text.slice(cut + 1))
}
