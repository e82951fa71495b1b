/** Code of signs alone, which English names: empty brackets, quoted operators, flags, classes of letters, schedules. Pure. */
import type { Kind, Language } from "../language.ts"
import { tableOf } from "../tables.ts"
import { type Place, previousCore, type Said, said, wordAt } from "../word.ts"

const empty = tableOf("[] empty array; {} empty object")
const operators: Readonly<Record<string, string>> = {
  ...empty,
  ...tableOf(`
    () parentheses; '' empty string; "" empty string; != not equals; !== strictly not equals; == double equals; === triple equals; = equals; => arrow; -> arrow; && double ampersand; || double pipe; & ampersand; | pipe; ! exclamation mark; ? question mark; ?? double question mark
    * star; ** double star; # hash; @ at sign; / slash; // double slash; \\ backslash; . dot; ... three dots; , comma; : colon; :: double colon; _ underscore; - dash; -- double dash; ~ tilde; ^ caret; % percent sign
    $ dollar sign; < less than; > greater than; <= less than or equal to; >= greater than or equal to; + plus; ++ plus plus; += plus equals
  `),
  ";": "semicolon"
}

const quoted = /^\(?([`'"])([^\s\p{L}\p{N}]{1,3})\1\)?([.,;:!?]?)$/u
const letters = /^\[\^?((?:[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|[_.-]){1,6})\][+*]?([.,;:!?]?)$/u
const flag = /^--[a-z][a-z-]{1,30}$|^-[A-Za-z]$/u
/** What a command is called; behind a word of prose a letter with a dash is negative. */
const command =
  /^(?!(?:of|is|to|by|from|and|or|with|at|than|for|equals|minus|plus|times)$)(?:[a-z][\w./-]+|--?[A-Za-z][\w-]*)$/u
const field = /^\(?`?((?:\*|\d{1,2})(?:[/,-]\d{1,2}){0,6})(`?\)?[.,;:!?]?)$/u

export const codeOfSigns: Kind = (place, language) => {
  const word = wordAt(place)
  if (word === undefined || !/^[`'"([{*-]|^\d{1,2}$/u.test(word.text) || word.text.length > 40) return undefined
  const [, , sign = "", mark = ""] = quoted.exec(word.text) ?? []
  if (Object.hasOwn(operators, sign)) return said(`${operators[sign]}${word.core === word.text ? mark : ""}`)
  if (Object.hasOwn(empty, word.text)) return said(empty[word.text] ?? "")
  const [, ranges = "", behind = ""] = letters.exec(word.text) ?? []
  if (/\w-\w/u.test(ranges)) return said(`${sayRanges(ranges, language)}${behind}`)
  if (flag.test(word.core) && (word.core.length > 2 || command.test(previousCore(place)) || isNamed(place)))
    return said(word.core.replace(/^--/u, "dash dash ").replace(/^-/u, "dash ").replaceAll("-", " "))
  return schedule(place, language)
}

const isNamed = (place: Place) => /^(?:flag|option|switch)/u.test(wordAt(place, 1)?.core ?? "")

const sayRanges = (ranges: string, language: Language) =>
  Array.from(ranges.matchAll(/(\w)-(\w)|./gu), ([sign, from, to]) =>
    from === undefined ? nameOf(sign, language) : `${nameOf(from, language)} to ${nameOf(to ?? "", language)}`
  ).join(", ")

const nameOf = (sign: string, language: Language) =>
  /\d/u.test(sign) ? language.cardinal(sign) : (language.symbols[sign] ?? sign)

/** The five fields of cron, or one that repeats: every fifteen minutes is "star slash fifteen". */
const schedule = (place: Place, language: Language): Said | undefined => {
  const fields = [0, 1, 2, 3, 4].map((offset) => field.exec(wordAt(place, offset)?.text ?? "")?.[1])
  const isSchedule = fields.every((text) => text !== undefined) && fields.some((text) => text.includes("*"))
  const last = wordAt(place, 4)
  const behind = last?.core === last?.text ? (field.exec(last?.text ?? "")?.[2]?.replace("`", "") ?? "") : ""
  if (isSchedule) return said(...fields.map((text, at) => `${sayField(text, language)}${at < 4 ? "," : behind}`))
  const [first = ""] = fields
  return first.startsWith("*/") ? said(sayField(first, language)) : undefined
}

const sayField = (text: string, language: Language) =>
  Array.from(text.matchAll(/\d+|./gu), ([piece]) =>
    /\d/u.test(piece) ? language.cardinal(piece) : piece === "-" ? "to" : (language.symbols[piece] ?? "")
  ).join(" ")
