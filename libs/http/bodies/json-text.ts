/**
 * JSON from strangers: nesting past a bound is refused, and keys named `__proto__`, which would reach a prototype when
 * copied. A strict reader of the grammar, which keeps nothing, finds the first fault and its place, which JSON.parse does
 * not report. Nothing here recurses. Pure.
 */
import { Result } from "effect"

interface JsonFault {
  /** UTF-16 units from the start of the text. */
  readonly offset: number
  readonly reason: string
}

const space = /[ \t\n\r]*/y
// All except the quote, the backslash and the characters before the space.
const plainCharacters = /[ !\x23-\x5b\x5d-\u{10ffff}]*/uy
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/uy
const scalar = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/uy

type Expected = "value" | "value or ]" | "key" | "key or }" | "end"

const matchEnd = (pattern: RegExp, text: string, at: number) => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

// With fewer brackets than this, parsing what nests too deeply takes no memory to speak of.
const bracketsMax = 4_096

/** The value of a text, or its first fault. The grammar takes as long as JSON.parse, and is read only for a fault. */
export const parseJsonText = (text: string, depthMax: number): Result.Result<unknown, JsonFault> => {
  const parsed = hasManyBrackets(text) ? undefined : parsedJson(text)
  if (parsed !== undefined && isAcceptable(parsed.value, depthMax)) return Result.succeed(parsed.value)
  const fault = jsonFault(text, depthMax)
  return fault === undefined ? Result.succeed(JSON.parse(text) as unknown) : Result.fail(fault)
}

const parsedJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const hasManyBrackets = (text: string) => {
  let count = 0
  for (const bracket of ["[", "{"]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if ((count += 1) > bracketsMax) return true
    }
  }
  return false
}

/** Within the depth, and without keys named `__proto__`. */
const isAcceptable = (json: unknown, depthMax: number): boolean => {
  const open: Array<{ readonly value: object; readonly depth: number }> = []
  const enter = (value: unknown, depth: number) => {
    if (typeof value === "object" && value !== null) open.push({ value, depth })
  }
  enter(json, 1)
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { value, depth } = one
    if (depth > depthMax || Object.hasOwn(value, "__proto__")) return false
    for (const inner of Array.isArray(value) ? value : Object.values(value)) enter(inner, depth + 1)
  }
  return true
}

export const jsonFault = (text: string, depthMax: number): JsonFault | undefined => {
  const open: Array<"{" | "["> = []
  let expected: Expected = "value"
  let at = 0
  for (;;) {
    at = matchEnd(space, text, at)
    const character = text[at]
    if (expected === "end") {
      const inside = open.at(-1)
      if (inside === undefined) {
        return character === undefined ? undefined : { offset: at, reason: "more after the end of the value" }
      }
      if (character === ",") expected = inside === "{" ? "key" : "value"
      else if (character === (inside === "{" ? "}" : "]")) open.pop()
      else return { offset: at, reason: `expected a comma or ${inside === "{" ? "}" : "]"}` }
      at += 1
      continue
    }
    if ((expected === "key or }" && character === "}") || (expected === "value or ]" && character === "]")) {
      open.pop()
      expected = "end"
      at += 1
      continue
    }
    if (expected === "key" || expected === "key or }") {
      const end = character === '"' ? stringEnd(text, at) : { offset: at, reason: "expected a key in quotes" }
      if (typeof end !== "number") return end
      if (isPrototypeKey(text.slice(at, end))) return { offset: at, reason: "the key __proto__ is not allowed" }
      at = matchEnd(space, text, end)
      if (text[at] !== ":") return { offset: at, reason: "expected a colon" }
      at += 1
      expected = "value"
      continue
    }
    if (character === "{" || character === "[") {
      if (open.length >= depthMax) return { offset: at, reason: `nested deeper than ${depthMax} levels` }
      open.push(character)
      expected = character === "{" ? "key or }" : "value or ]"
      at += 1
      continue
    }
    const end = character === '"' ? stringEnd(text, at) : matchEnd(scalar, text, at)
    if (typeof end !== "number") return end
    if (end < 0) return { offset: at, reason: character === undefined ? "unexpected end" : "expected a value" }
    at = end
    expected = "end"
  }
}

/** The end of the string that begins at `start`, or its fault. */
const stringEnd = (text: string, start: number): number | JsonFault => {
  let at = start + 1
  for (;;) {
    at = matchEnd(plainCharacters, text, at)
    if (text[at] === '"') return at + 1
    if (at >= text.length) return { offset: at, reason: "unexpected end in a string" }
    if (text[at] !== "\\") return { offset: at, reason: "a control character in a string" }
    const end = matchEnd(escape, text, at)
    if (end < 0) return { offset: at, reason: "not an escape" }
    at = end
  }
}

const isPrototypeKey = (quoted: string) =>
  quoted === '"__proto__"' || (quoted.includes("\\") && JSON.parse(quoted) === "__proto__")
