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
}

/** "i. d. R." has three words. */
const wordsMax = 3

export const abbreviation = (data: Abbreviations): Kind => {
  const tables = {
    titles: new Map(entriesOf(data.titles)),
    numbered: new Map(entriesOf(data.numbered)),
    inside: new Map(entriesOf(data.inside)),
    perhapsLast: new Map(entriesOf(data.perhapsLast))
  }
  return (place, language) => {
    for (let count = wordsMax; count > 0; count -= 1) {
      const key = keyOf(place, count)
      const spoken =
        key === undefined ? undefined : inFull(tables, key, { ...place, at: place.at + count - 1 }, language)
      if (spoken !== undefined)
        return { ...spoken, parts: [...spoken.parts, ...Array.from({ length: count - 1 }, () => null)] }
    }
    return undefined
  }
}

/** The words run together; undefined if punctuation stands between them. */
const keyOf = (place: Place, count: number): string | undefined => {
  let key = ""
  for (let n = 0; n < count; n += 1) {
    const word = wordAt(place, n)
    if (word === undefined || word.core.length > 14) return undefined
    if (n > 0 && word.lead !== "") return undefined
    if (n < count - 1 && (word.stop === "" || word.trail !== "")) return undefined
    key += word.core + word.stop
  }
  return key.toLowerCase()
}

type Tables = Readonly<Record<keyof Abbreviations, ReadonlyMap<string, string>>>

/** `last`: the place of the last word of it. */
const inFull = (tables: Tables, key: string, last: Place, language: Language): Said | undefined => {
  const next = wordAt(last, 1)
  const isJoined = next !== undefined && wordAt(last)?.trail === ""
  const numbered = tables.numbered.get(key)
  if (numbered !== undefined && isJoined && /^[\d#]|^[IVX]+$|^[A-Z]\d/u.test(next.core)) return closed(numbered)
  const title = tables.titles.get(key)
  if (title !== undefined && isJoined && /^\p{Lu}/u.test(next.core)) return closed(title)
  const inside = tables.inside.get(key)
  if (inside !== undefined) return { parts: [inside], takesStop: next !== undefined }
  const text = tables.perhapsLast.get(key)
  if (text !== undefined) return { parts: [text], takesStop: !mayEndSentence(last, language.startsSentence) }
  // One without a full stop of its own ends a sentence here: "svp."
  const bare = key.replace(/\.$/u, "")
  const unstopped = bare === key ? undefined : (tables.perhapsLast.get(bare) ?? tables.inside.get(bare))
  return unstopped === undefined ? undefined : { parts: [unstopped] }
}

const closed = (text: string): Said => ({ parts: [text], takesStop: true })
