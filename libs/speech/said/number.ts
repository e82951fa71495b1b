/**
 * Numbers as a language writes and speaks them. Digits stay text, so that nothing is lost to floating point; a number
 * of more digits than anybody hears as one is read digit by digit. Pure.
 */
import type { Language } from "./language.ts"

export interface WrittenNumber {
  readonly sign: "" | "-" | "+"
  readonly whole: string
  /** The digits behind the decimal mark; empty without one. */
  readonly fraction: string
  /** A point is written where the language has a comma: it is said as a point. */
  readonly isPointed?: boolean
}

/** Nobody follows a number beyond a quadrillion. */
const digitsMax = 15

/** A point as decimal mark; groups of three, and of two as in India. */
const byPoint = /^([+\-−–]?)(\d{1,3}(?:,\d{3}){1,6}|\d{1,2}(?:,\d{2}){1,5},\d{3}|\d{1,40})?(?:\.(\d{1,20}))?$/u
/** A comma as decimal mark; groups by points, spaces or apostrophes. */
const byComma = /^([+\-−–]?)(\d{1,3}(?:[. \u00a0\u2009\u202f'’]\d{3}){1,6}|\d{1,40})?(?:,(\d{1,20}))?$/u

/** Undefined if it is no number in this language. */
export const readNumber = (text: string, { decimalMark }: Pick<Language, "decimalMark">): WrittenNumber | undefined => {
  if (text.length > 64 || !/\d/u.test(text)) return undefined
  const pattern = decimalMark === "." ? byPoint : byComma
  const usual = pattern.exec(text)
  const [found, sign = "", whole = "", fraction = ""] = usual ?? pointed(text, decimalMark) ?? []
  if (found === undefined) return undefined
  return {
    isPointed: usual === null,
    sign: sign === "" || sign === "+" ? sign : "-",
    whole: whole.replaceAll(/\D/gu, "") || "0",
    fraction
  }
}

/** The other mark is understood where it cannot be a group's: groups have three digits. */
const pointed = (text: string, decimalMark: string) =>
  decimalMark === ","
    ? /^([+\-−–]?)(\d{1,15})\.(\d{1,2}|\d{4,20})$/u.exec(text)
    : /^([+\-−–]?)(\d{1,15}),(\d{1,2})$/u.exec(text)

/** "1205" is "one two zero five". */
export const digitByDigit = (digits: string, language: Pick<Language, "cardinal">): string =>
  Array.from(digits, (digit) => (/\d/u.test(digit) ? language.cardinal(digit) : digit)).join(" ")

/** A number that begins with a zero is a row of digits. */
export const sayWhole = (digits: string, language: Language, gender?: Gender): string =>
  digits.length > digitsMax || /^0\d/u.test(digits) ? digitByDigit(digits, language) : language.cardinal(digits, gender)

export type Gender = "masculine" | "feminine"

export const sayNumber = (
  { isPointed, sign, whole, fraction }: WrittenNumber,
  language: Language,
  gender?: Gender
): string => {
  const { sayFraction, symbols, words } = language
  const point = isPointed === true ? (symbols["."] ?? language.point) : language.point
  const signed = sign === "-" ? [words.minus] : sign === "+" ? [words.plus] : []
  const behind = fraction === "" ? [] : [point, sayFraction(fraction)]
  return [...signed, sayWhole(whole, language, fraction === "" ? gender : undefined), ...behind].join(" ")
}

/** Whether it is exactly one, and so asks for the singular. */
export const isOne = ({ whole, fraction }: WrittenNumber): boolean => whole === "1" && fraction === ""

/** "3,14" is "tres coma catorce": two digits behind the mark are a number where people say so. */
export const fractionInPairs =
  (cardinal: (digits: string) => string) =>
  (digits: string): string =>
    /^[1-9]\d?$/u.test(digits) ? cardinal(digits) : Array.from(digits, (digit) => cardinal(digit)).join(" ")
