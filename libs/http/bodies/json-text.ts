/**
 * A strict reader of JSON's grammar that keeps nothing. It finds the first fault and its place, which JSON.parse does
 * not report, and refuses nesting past a bound and keys named `__proto__`, which would reach a prototype when copied.
 * It does not recurse. Pure.
 */

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
