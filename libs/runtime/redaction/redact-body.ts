/**
 * Removes secrets from the bytes of a message that failed to decode, so that an operator may still see its content:
 * JSON stays JSON of the same structure, numbers and blanks included; anything else is treated as text. Pure.
 */
import { Option, Result } from "effect"
import type { Redact } from "./Redactor.ts"

// The end of a long body may cut a secret in two, which no shape recognizes. No well-known secret is longer than this.
const secretBytesMax = 4 * 1_024

/** The value of such a key is a secret, whatever it looks like. */
const secretKey = /(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)$/iu

/** A literal that is not closed goes on to the end, so that no text is searched twice. */
const literal = String.raw`"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)`
/** A literal; with the colon after it, if it is a key; with its value, if that is a literal or a number. */
const literals = new RegExp(String.raw`(${literal})(?:(\s*:\s*)(${literal}|-?\d[\d.eE+-]*)?)?`, "gsu")

const utf8 = new TextDecoder("utf-8", { fatal: false })
const utf8Encoder = new TextEncoder()

export interface RedactedBody {
  /** The very bytes that came, if they held no secret. */
  readonly bytes: Uint8Array
  readonly isCut: boolean
}

/** Keeps at most this many bytes, and redacts only these and as many more as a secret at the cut may need. */
export const redactBody = (body: Uint8Array, redact: Redact, bytesMax: number): RedactedBody => {
  const window = body.subarray(0, bytesMax + secretBytesMax)
  const text = utf8.decode(window)
  const clean = redactText(text, redact)
  const bytes = clean === text ? window : utf8Encoder.encode(clean)
  const known = window.length < body.length ? Math.max(0, bytes.length - secretBytesMax) : bytes.length
  const kept = bytes.subarray(0, Math.min(known, bytesMax))
  return { bytes: kept, isCut: window.length < body.length || kept.length < bytes.length }
}

const redactText = (text: string, redact: Redact): string => {
  const clean = text.replaceAll(literals, (_whole, first: string, colon?: string, value?: string) => {
    const key = redactedLiteral(first, redact)
    if (colon === undefined) return key
    return `${key}${colon}${value === undefined ? "" : redactedValue(value, first, redact)}`
  })
  // In JSON a pattern across several literals would break the structure.
  return isJson(text) ? clean : redact(clean)
}

const redactedValue = (value: string, key: string, redact: Redact) => {
  const isSecret = value !== '""' && Option.exists(textOf(key), (name) => secretKey.test(name))
  if (isSecret) return '"[secret]"'
  return value.startsWith('"') ? redactedLiteral(value, redact) : value
}

const redactedLiteral = (written: string, redact: Redact) =>
  Option.match(textOf(written), {
    onNone: () => written,
    onSome: (text) => {
      const clean = text === "" ? text : redact(text)
      return clean === text ? written : JSON.stringify(clean)
    }
  })

/** None for a text that is no literal. */
const textOf = (written: string): Option.Option<string> => Option.map(parsed(written), String)

const parsed = (text: string): Option.Option<unknown> =>
  Result.getSuccess(Result.try(() => JSON.parse(text) as unknown))

const isJson = (text: string) => Option.isSome(parsed(text))
