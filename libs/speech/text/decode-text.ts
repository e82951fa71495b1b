/**
 * Text of an XML document, decoded, with the place of each unit. The reader has checked it: every `&` starts one of
 * the five entities or a character reference. All white space becomes a space, since SSML means no more by it.
 */
import { Run, type TextRun } from "./runs.ts"
import type { Style } from "./style.ts"

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/** `entitiesCount` is false in CDATA, where `&` is itself. */
export const decodeText = (input: string, from: number, to: number, style: Style, entitiesCount: boolean): TextRun => {
  const starts = new Int32Array(to - from)
  const ends = new Int32Array(to - from)
  const parts: Array<string> = []
  let length = 0
  let copied = from
  let at = from
  while (at < to) {
    const isReference = entitiesCount && input[at] === "&"
    const end = isReference ? input.indexOf(";", at) + 1 || to : at + 1
    let units = 1
    if (isReference) {
      const decoded = referenceOf(input.slice(at + 1, end - 1))
      parts.push(input.slice(copied, at), decoded)
      units = decoded.length
      copied = end
    }
    starts.fill(at, length, length + units)
    ends.fill(end, length, length + units)
    length += units
    at = end
  }
  parts.push(input.slice(copied, to))
  const text = parts.join("").replaceAll(/\s/gu, " ")
  return Run.Text(text, starts.subarray(0, length), ends.subarray(0, length), style)
}

const referenceOf = (name: string) => {
  if (!name.startsWith("#")) return entities[name] ?? ""
  const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10)
  return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ""
}
