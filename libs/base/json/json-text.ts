/**
 * JSON from outside, held to limits before it is parsed: how deep it nests, and how much it weighs. Keys named
 * `__proto__`, which would reach a prototype when copied, are refused. One strict reader of the grammar, which keeps
 * nothing and does not recurse, finds the first fault and its place, which JSON.parse does not report. Of a duplicate
 * key the last counts. Pure.
 */
import { Result } from "effect"

export interface JsonLimits {
  /** How deep arrays and objects can nest. */
  readonly depthMax: number
  /** A text, a number, a literal and a key weigh 1, an array or an object weighs 8: about what each costs a schema. */
  readonly weightMax: number
}

export interface JsonFault {
  /** UTF-16 units from the start of the text. */
  readonly offset: number
  readonly reason: string
  /** Well formed so far, but too large. */
  readonly isTooLarge?: true
}

const containerWeight = 8

/**
 * The greatest weight of a body of this many bytes. Two-letter messages in parts, the lightest conversation possible,
 * weigh 31 in 57 bytes; ids of tokens weigh 1 in 5. Ten thousand such messages fit into one mebibyte, where the
 * smallest elements, `{}` or `0`, would weigh eight or one and a half times the limit. A larger body has longer texts
 * rather than more of them: ten mebibytes of that density would block their process for half a second.
 */
export const weightMaxOf = (bytesMax: number): number =>
  Math.max(smallestWeightMax, Math.floor(Math.min(bytesMax, mebibyte) / 3 + Math.max(0, bytesMax - mebibyte) / 96))
const mebibyte = 1_048_576
// A few thousand elements cost almost nothing, however small the body's limit.
const smallestWeightMax = 16_384

/** The value of a text, or its first fault. */
export const parseJsonText = (text: string, limits: JsonLimits): Result.Result<unknown, JsonFault> => {
  const parsed = isWithin(text, limits) ? parsedJson(text) : undefined
  if (parsed !== undefined) return Result.succeed(parsed.value)
  const fault = jsonFault(text, limits)
  return fault === undefined ? Result.succeed(JSON.parse(text) as unknown) : Result.fail(fault)
}

const parsedJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const underscore = 0x5f
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Whether JSON text, whose syntax this does not check, keeps to the limits and has no forbidden key. Takes a fraction
 * of JSON.parse's time, because it finds the ends of strings by native search and examines nothing but structure.
 */
const isWithin = (text: string, { depthMax, weightMax }: JsonLimits): boolean => {
  let depth = 0
  let weight = 1
  let stringAt = 0
  let escapeAt = nextEscape(text, 0)
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = text.indexOf('"', at + 1)
        // The parser will report that the string is open.
        if (end < 0) return true
        stringAt = at
        at = escapeAt > end ? end : escapedStringEnd(text, escapeAt)
        if (escapeAt < at) escapeAt = nextEscape(text, at)
        break
      }
      case comma:
        weight += 1
        break
      case colon:
        weight += 1
        if (isPrototypeKey(text, stringAt, at)) return false
        break
      case openBracket:
      case openBrace:
        weight += containerWeight
        depth += 1
        if (depth > depthMax) return false
        break
      case closeBracket:
      case closeBrace:
        depth -= 1
    }
  }
  return weight <= weightMax
}

const nextEscape = (text: string, from: number) => {
  const at = text.indexOf("\\", from)
  return at < 0 ? text.length : at
}

/** The position of the quote that ends a string whose first escape is at `escapeAt`. */
const escapedStringEnd = (text: string, escapeAt: number) => {
  let at = escapeAt
  for (let code = backslash; code !== quote && at < text.length; code = text.charCodeAt(at)) {
    at += code === backslash ? 2 : 1
  }
  return at
}

type Expected = "value" | "value or ]" | "key" | "key or }" | "end"

/** The first fault, by the grammar. Takes a few times as long as JSON.parse. */
export const jsonFault = (text: string, { depthMax, weightMax }: JsonLimits): JsonFault | undefined => {
  // What closes each open array and object.
  const open: Array<typeof closeBracket | typeof closeBrace> = []
  let inside: (typeof open)[number] | undefined
  let expected: Expected = "value"
  let weight = 1
  for (let at = spaceEnd(text, 0); ; at = spaceEnd(text, at)) {
    const code = text.charCodeAt(at)
    if (weight > weightMax) return { offset: at, reason: "too many elements and keys", isTooLarge: true }
    if (expected === "end") {
      if (inside === undefined) return at < text.length ? faulty(at, "more after the end of the value") : undefined
      if (code === comma) {
        weight += 1
        expected = inside === closeBrace ? "key" : "value"
      } else if (code === inside) inside = closed(open)
      else return faulty(at, `expected a comma or ${inside === closeBrace ? "}" : "]"}`)
      at += 1
      continue
    }
    if (code === inside && (expected === "key or }" || expected === "value or ]")) {
      inside = closed(open)
      expected = "end"
      at += 1
      continue
    }
    if (expected === "key" || expected === "key or }") {
      const end = code === quote ? stringEnd(text, at) : faulty(at, "expected a key in quotes")
      if (typeof end !== "number") return end
      if (isPrototypeKey(text, at, end)) return faulty(at, "the key __proto__ is not allowed")
      at = spaceEnd(text, end)
      if (text.charCodeAt(at) !== colon) return faulty(at, "expected a colon")
      at += 1
      weight += 1
      expected = "value"
      continue
    }
    if (code === openBracket || code === openBrace) {
      if (open.length >= depthMax) return faulty(at, `nested deeper than ${depthMax} levels`)
      inside = code === openBracket ? closeBracket : closeBrace
      open.push(inside)
      weight += containerWeight
      expected = code === openBracket ? "value or ]" : "key or }"
      at += 1
      continue
    }
    const end = code === quote ? stringEnd(text, at) : scalarEnd(text, at)
    if (typeof end !== "number") return end
    at = end
    expected = "end"
  }
}

const faulty = (offset: number, reason: string): JsonFault => ({ offset, reason })

const closed = <A>(open: Array<A>) => {
  open.pop()
  return open.at(-1)
}

const spaceEnd = (text: string, start: number) => {
  let at = start
  for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;) {
    at += 1
    code = text.charCodeAt(at)
  }
  return at
}

/** The end of the string that begins at `start`, or its fault. */
const stringEnd = (text: string, start: number): number | JsonFault => {
  for (let at = start + 1; ; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    if (code === backslash) {
      const escaped = escapeEnd(text, at)
      if (escaped < 0) return faulty(at, "not an escape")
      at = escaped - 1
    } else if (!(code >= 0x20)) {
      return faulty(at, at >= text.length ? "unexpected end in a string" : "a control character in a string")
    }
  }
}

/** -1 if it is not an escape. */
const escapeEnd = (text: string, start: number) => {
  const letter = text.charAt(start + 1)
  if (letter !== "u") return letter !== "" && '"\\/bfnrt'.includes(letter) ? start + 2 : -1
  for (let at = start + 2; at < start + 6; at += 1) if (!isHexDigit(text.charCodeAt(at))) return -1
  return start + 6
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39
// With the sixth bit set, a capital letter is a small one.
const isHexDigit = (code: number) => isDigit(code) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66)

const literals: ReadonlyMap<number, string> = new Map(["true", "false", "null"].map((one) => [one.charCodeAt(0), one]))

/** The end of a number or literal, or the fault that there is none. */
const scalarEnd = (text: string, start: number): number | JsonFault => {
  const literal = literals.get(text.charCodeAt(start))
  if (literal !== undefined && text.startsWith(literal, start)) return start + literal.length
  const first = text.charAt(start) === "-" ? start + 1 : start
  const whole = text.charAt(first) === "0" ? first + 1 : digitsEnd(text, first)
  if (whole === first) return faulty(start, start >= text.length ? "unexpected end" : "expected a value")
  const fraction = text.charAt(whole) === "." ? digitsEnd(text, whole + 1) : whole
  // As in `1.`: the number ends before its point.
  const end = fraction === whole + 1 ? whole : fraction
  if (text.charAt(end) !== "e" && text.charAt(end) !== "E") return end
  const sign = text.charAt(end + 1)
  const power = sign === "+" || sign === "-" ? end + 2 : end + 1
  const powerEnd = digitsEnd(text, power)
  return powerEnd === power ? end : powerEnd
}

const digitsEnd = (text: string, start: number) => {
  let at = start
  while (isDigit(text.charCodeAt(at))) at += 1
  return at
}

// `__proto__`, any of whose characters can be escaped.
const prototypeKey =
  /^"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"/u
const prototypeKeyUnitsMax = '""'.length + "\\u005f".length * "__proto__".length

const isPrototypeKey = (text: string, start: number, end: number) => {
  const code = text.charCodeAt(start + 1)
  // Nearly every key begins with another character.
  if (code !== underscore && code !== backslash) return false
  return prototypeKey.test(text.slice(start, Math.min(end, start + prototypeKeyUnitsMax)))
}
