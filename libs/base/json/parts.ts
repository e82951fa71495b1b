/**
 * The parts of a JSON text exactly as written, so that they can be passed on with every digit of their numbers. Texts
 * must be valid JSON. Pure.
 */
import { stringEnd } from "./repeated-keys.ts"

/** The texts of an object's members, by key. Of a duplicate key the last counts. */
export const memberTexts = (object: string): ReadonlyMap<string, string> =>
  new Map(
    partsOf(object).map((member) => {
      const keyEnd = stringEnd(member, 0)
      return [JSON.parse(member.slice(0, keyEnd)) as string, member.slice(member.indexOf(":", keyEnd) + 1).trim()]
    })
  )

/** The texts of an array's elements. */
export const elementTexts = (array: string): ReadonlyArray<string> => partsOf(array)

/** What the outermost brackets hold, divided by its commas. */
const partsOf = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let depth = 0
  let start = 0
  const close = (end: number) => {
    const part = text.slice(start, end).trim()
    if (part !== "") parts.push(part)
    start = end + 1
  }
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"':
        at = stringEnd(text, at) - 1
        break
      case "{":
      case "[":
        depth += 1
        if (depth === 1) start = at + 1
        break
      case "}":
      case "]":
        if (depth === 1) close(at)
        depth -= 1
        break
      case ",":
        if (depth === 1) close(at)
    }
  }
  return parts
}
