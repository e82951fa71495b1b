/** Money: a sign or a code before or behind an amount, with a magnitude or hundredths. Pure. */
import type { Currency, Kind, Language, Reader } from "../language.ts"
import { isOne, readNumber, sayNumber, sayWhole, type WrittenNumber } from "../number.ts"
import { following, type Place, previousCore, said, wordAt } from "../word.ts"
import { nowhere } from "./date.ts"

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
  /^([+\-−–]?)([\d.,'’ \u00a0\u2009\u202f]{1,40})([A-Za-z]{0,2})((?:US|AU|CA|NZ|HK|A|C|R)?\$|[€£¥₹₩₽₿₺₪¢]|USDC|[A-Z]{3})$/u

interface Money {
  readonly amount: WrittenNumber
  readonly currency: Currency
  /** As written behind the amount: "M", "bn". */
  readonly magnitude: string
}

const readMoney = (core: string, language: Language): Money | undefined => {
  if (core.length > 48 || !/\d/u.test(core)) return undefined
  const leading = before.exec(core)
  const trailing = leading === null ? behind.exec(core) : null
  const [written, minus, digits, magnitude] =
    leading !== null
      ? [leading[2], `${leading[1]}${leading[3]}`, leading[4], leading[5]]
      : [trailing?.[4], trailing?.[1], trailing?.[2], trailing?.[3]]
  if (written === undefined || digits === undefined || !Object.hasOwn(codes, written)) return undefined
  const currency = language.currencies[codes[written] ?? ""]
  const number = readNumber(`${minus ?? ""}${digits}`, language)
  return currency === undefined || number === undefined
    ? undefined
    : { amount: number, currency, magnitude: magnitude ?? "" }
}

export const sayMoney: Reader = (core, language, place) => {
  const [, single = core, rate] = /^([^/]{1,40})\/([\p{L}]{1,12})$/u.exec(core) ?? []
  const money = readMoney(single, language)
  if (money === undefined) return undefined
  const text = sayAmount(isBeforeNoun(place, language) ? oneOf(money) : money, language)
  if (text === undefined || rate === undefined) return text
  const unit = language.units.get(rate)
  return `${text} ${language.per} ${unit?.one ?? rate}`
}

/** "a $5 bill" is a five-dollar one. */
export const isBeforeNoun = (place: Place, language: Language, back = -1): boolean =>
  language.isArticle.test(wordAt(place, isSecondSide(place, back) ? back - 2 : back)?.core ?? "") &&
  language.isNoun(following(place)?.core ?? "")

/** "a 10 x 20 ft room" */
const isSecondSide = (place: Place, back: number) => /^[x×]$/u.test(wordAt(place, back)?.core ?? "")

const oneOf = (money: Money): Money => ({ ...money, currency: { ...money.currency, many: money.currency.one } })

const sayAmount = ({ amount, currency, magnitude }: Money, language: Language): string | undefined => {
  if (magnitude !== "") {
    const noun = language.magnitudes[magnitude] ?? language.magnitudes[magnitude.toLowerCase()]
    return noun === undefined ? undefined : ofMagnitude(amount, noun.one, noun.many, currency.many, language)
  }
  const { part, gender } = currency
  const { fraction, sign, whole } = amount
  const name =
    isOne(amount) || (whole === "1" && part !== undefined && fraction.length === 2) ? currency.one : currency.many
  if (fraction === "" || (/^0+$/u.test(fraction) && fraction.length <= 2)) {
    return `${sayNumber({ ...amount, fraction: "" }, language, gender)} ${name}`
  }
  if (part === undefined || fraction.length !== 2) return `${sayNumber(amount, language)} ${currency.many}`
  const hundredths = String(Number(fraction))
  const parts = `${sayWhole(hundredths, language, part.gender)} ${hundredths === "1" ? part.one : part.many}`
  if (Number(whole) === 0) return sign === "-" ? `${language.words.minus} ${parts}` : parts
  return `${sayNumber({ ...amount, fraction: "" }, language, gender)} ${name} ${language.words.and} ${parts}`
}

const ofMagnitude = (amount: WrittenNumber, one: string, many: string, currency: string, language: Language) =>
  [sayNumber(amount, language), isOne(amount) ? one : many, language.ofMagnitude, currency]
    .filter((word) => word !== "")
    .join(" ")

const magnitudeWord = /^\p{L}{2,9}$/u

/** "$3 million" is "three million dollars"; "USD 20" and "20 EUR" are two words too. */
export const magnitudeOfMoney: Kind = (place, language) => {
  const [word, next] = [wordAt(place), following(place)]
  if (word === undefined || next === undefined) return undefined
  const money = readMoney(word.core, language)
  if (money !== undefined && money.magnitude === "" && magnitudeWord.test(next.core)) {
    const noun = language.magnitudes[next.core.toLowerCase()]
    if (noun === undefined || next.core.length < 3) return undefined
    const isAttribute = language.isArticle.test(previousCore(place)) && language.isNoun(following(place, 2)?.core ?? "")
    const name = isAttribute ? money.currency.one : money.currency.many
    const currency = [language.ofMagnitude, name].filter((part) => part !== "").join(" ")
    return said(sayNumber(money.amount, language), `${isOne(money.amount) ? noun.one : noun.many} ${currency}`)
  }
  return codeApart(word.core, next.core, language)
}

const codeApart = (first: string, second: string, language: Language) => {
  if (Object.hasOwn(codes, second)) {
    const small = /^0[.,]\d+$/u.test(first) ? readNumber(first, language) : undefined
    const currency = language.currencies[codes[second] ?? ""]
    if (small !== undefined && currency !== undefined) return said(sayNumber(small, language), currency.many)
    const text = sayMoney(`${first}${second}`, language, nowhere)
    return text === undefined ? undefined : splitLast(text)
  }
  if (!Object.hasOwn(codes, first) || first.length > 4) return undefined
  const text = sayMoney(`${first}${second}`, language, nowhere)
  return text === undefined ? undefined : said(text, null)
}

/** The name of the currency is the second word's. */
const splitLast = (text: string) => {
  const cut = text.lastIndexOf(" ")
  return said(text.slice(0, cut), text.slice(cut + 1))
}
