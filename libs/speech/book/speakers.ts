/** Who speaks a paragraph: the name before its first colon, or the narrator. */
import { hasVisible } from "#speech"
import { type Sourced, sliced } from "./document/source.ts"

export interface Speakers {
  readonly byName: ReadonlyMap<string, number>
  readonly nameMax: number
}

export const speakersOf = (names: ReadonlyArray<string>): Speakers => {
  const folded = names.map(foldName)
  return {
    // Of two that are equal the first counts.
    byName: new Map(folded.map((name, at) => [name, at] as const).toReversed()),
    nameMax: folded.reduce((longest, name) => Math.max(longest, name.length), 0)
  }
}

const foldName = (name: string) => name.replaceAll(/\s+/gu, " ").trim().toLowerCase()

interface Spoken extends Sourced {
  readonly speaker?: number
}

/** Without the name and the colon, if a speaker's name stands there. The longest name counts. */
export const spokenBy = (line: Sourced, { byName, nameMax }: Speakers): Spoken => {
  const start = line.text.slice(0, nameMax + 2)
  for (let colon = lastColon(start, start.length); colon > 0; colon = lastColon(start, colon - 1)) {
    const speaker = byName.get(foldName(start.slice(0, colon)))
    if (speaker === undefined) continue
    const from = line.text[colon + 1] === " " ? colon + 2 : colon + 1
    const rest = sliced(line, from, line.text.length)
    return hasVisible(rest.text) ? { ...rest, speaker } : line
  }
  return line
}

const lastColon = (text: string, from: number) => Math.max(text.lastIndexOf(":", from), text.lastIndexOf("：", from))
