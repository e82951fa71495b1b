/** Addresses of the net, mail and files, and Markdown's links to them. Pure. */
import type { Language, Reader } from "../language.ts"
import { readNumber, sayNumber } from "../number.ts"

const schemes = ["https://", "http://", "ftp://", "mailto:"]
const endings = new Set(
  (
    "com org net edu gov io ai app dev co uk de fr es it br mx eu us info biz me tv ch at nl be pl pt ca au xyz tech cloud " +
    "example test local"
  ).split(" ")
)
const fileEndings = new Set(
  (
    "ts js tsx jsx mjs cjs json md py rs go java c h cpp cs rb php html css scss txt pdf doc docx xls xlsx csv png jpg " +
    "jpeg gif svg webp zip tar gz sh yml yaml toml xml sql log conf ini env lock mp3 wav mp4 ppt pptx exe"
  ).split(" ")
)
const host = /^(?:\*|[a-z0-9-]{1,63})(?:\.[a-z0-9-]{1,63}){1,8}$/iu
const mailbox = /^[a-z0-9._%+-]{1,64}$/iu

/** "www.example.com/a" is "w w w dot example dot com slash a"; undefined if it is no address. */
export const sayAddress: Reader = (core, language) => {
  if (/^doi:\d/iu.test(core)) return `D O I ${spell(core.slice(4), language)}`
  const at = core.indexOf("@")
  if (at > 0) {
    const isMail = mailbox.test(core.slice(0, at)) && host.test(core.slice(at + 1))
    return isMail ? spell(core, language) : undefined
  }
  if (/^\d{1,3}(?:\.\d{1,3}){3}:\d{2,5}$/u.test(core)) return spell(core, language)
  const scheme = schemes.find((scheme) => core.toLowerCase().startsWith(scheme)) ?? ""
  const rest = core.slice(scheme.length)
  const name = rest.slice(0, endOfHost(rest))
  if (scheme !== "" && rest !== "") return spell(withoutSlash(rest), language)
  if (host.test(name) && (name.toLowerCase().startsWith("www.") || isDomain(name)))
    return spell(withoutSlash(rest), language)
  if (/^[a-z][a-z0-9.-]{1,60}:\d{2,5}$/iu.test(core)) return spell(core, language)
  return isFile(core) ? spell(core, language) : undefined
}

const withoutSlash = (text: string) => (text.endsWith("/") ? text.slice(0, -1) : text)

const endOfHost = (text: string) => {
  const found = text.search(/[/?#:]/u)
  return found === -1 ? text.length : found
}

// "e.g" and "3.14" have dots too, so only a name with a well-known ending is spoken as an address.
const isDomain = (name: string) => {
  const labels = name.toLowerCase().split(".")
  return endings.has(labels.at(-1) ?? "") && (labels.at(-2) ?? "").length > 1
}

const isFile = (core: string) => {
  if (/^~\/[\w./-]{1,120}$/u.test(core)) return true
  const [, ending] = /\.([a-z0-9]{1,5})(?::\d{1,5}){0,2}$/iu.exec(core) ?? []
  if (/^\.[a-z][\w.-]{1,40}$/u.test(core)) return true
  if (ending !== undefined && fileEndings.has(ending.toLowerCase())) return /^[\w./~@+:-]{2,200}$/u.test(core)
  return /^(?:~|\.{1,2})?(?:\/[\w.@+-]{1,64}){2,12}\/?$/u.test(core)
}

const spell = (text: string, language: Language): string => {
  const spoken = Array.from(text.matchAll(/\p{L}+|\d+|./gsu), ([piece]) => {
    if (/^\d/u.test(piece)) return sayDigits(piece, language)
    return language.symbols[piece] ?? (/^www$/iu.test(piece) ? "w w w" : piece)
  })
  return spoken.join(" ")
}

const sayDigits = (digits: string, language: Language) => {
  if (/^[1-9]\d{3}$/u.test(digits)) return language.sayLabel(digits)
  const number = digits.length > 4 || /^0\d/u.test(digits) ? undefined : readNumber(digits, language)
  return number === undefined
    ? Array.from(digits, (digit) => language.cardinal(digit)).join(" ")
    : sayNumber(number, language)
}
