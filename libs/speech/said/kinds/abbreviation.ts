/** Abbreviations in full, by a table of a language. One that can end a sentence keeps its full stop where one starts. Pure. */
import type { Kind, Language } from "../language.ts"
import { entriesOf } from "../tables.ts"
import { mayEndSentence, type Place, type Said, wordAt } from "../word.ts"

/** `key words; key words`: a key has its full stops, and neither capitals nor spaces. */
export interface Abbreviations {
  /** Before a name. */
  readonly titles: string
  /** Before a number. */
  readonly numbered: string
  /** Never the last word of a sentence. */
  readonly inside: string
  readonly perhapsLast: string
  /** A number behind one that asks for it. */
  readonly number?: RegExp
}

/** "i. d. R." has three words. */
const wordsMax = 3
const longestWord = 14

const uses = ["numbered", "titles", "inside", "perhapsLast"] as const
type Meanings = Partial<Readonly<Record<(typeof uses)[number], string>>>

export const abbreviation = (data: Abbreviations): Kind => {
  const table = new Map<string, Meanings>()
  for (const use of uses)
    for (const [key, text] of entriesOf(data[use])) table.set(key, { ...table.get(key), [use]: text })
  const number = data.number ?? /^[\d#]|^[IVX]+$|^[A-Z]\d/u
  return (place, language) => {
    const word = wordAt(place)
    if (word === undefined || word.core.length > longestWord) return undefined
    for (let count = word.stop === "" || word.trail !== "" ? 1 : wordsMax; count > 0; count -= 1) {
      const key = keyOf(place, count)
      const meanings = table.get(key) ?? (key.endsWith(".") ? withoutStop(table.get(key.slice(0, -1))) : undefined)
      const last = { ...place, at: place.at + count - 1 }
      const spoken = meanings === undefined ? undefined : inFull(meanings, number, last, language)
      if (spoken !== undefined)
        return { ...spoken, parts: [...spoken.parts, ...Array.from({ length: count - 1 }, () => null)] }
    }
    return undefined
  }
}

/** The words run together; empty if punctuation stands between them. */
const keyOf = (place: Place, count: number): string => {
  let key = ""
  for (let n = 0; n < count; n += 1) {
    const word = wordAt(place, n)
    if (word === undefined || word.core.length > longestWord || (n > 0 && word.lead !== "")) return ""
    if (n < count - 1 && (word.stop === "" || word.trail !== "")) return ""
    key += word.core + word.stop
  }
  return key.toLowerCase()
}

/** One without a full stop of its own ends a sentence: "svp." */
const withoutStop = ({ inside, perhapsLast = inside }: Meanings = {}): Meanings | undefined =>
  perhapsLast === undefined ? undefined : { perhapsLast }

/** `last`: the place of the last word of it. */
const inFull = (
  { inside, numbered, perhapsLast, titles }: Meanings,
  number: RegExp,
  last: Place,
  language: Language
): Said | undefined => {
  const next = wordAt(last, 1)
  const isJoined = next !== undefined && wordAt(last)?.trail === ""
  if (numbered !== undefined && isJoined && number.test(next.core)) return closed(numbered)
  if (titles !== undefined && isJoined && /^\p{Lu}/u.test(next.core)) return closed(titles)
  if (inside !== undefined) return closed(inside)
  return perhapsLast === undefined
    ? undefined
    : { parts: [perhapsLast], takesStop: !mayEndSentence(last, language.startsSentence) }
}

const closed = (text: string): Said => ({ parts: [text], takesStop: true })
