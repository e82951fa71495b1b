/** The words of a text as it is written, each without the punctuation around it, and what stands beside them. Pure. */

export interface Word {
  /** Where it begins in its text, in UTF-16 units. */
  readonly index: number
  /** All that stands between white space. */
  readonly text: string
  readonly lead: string
  readonly core: string
  /** One full stop behind the core: it ends a sentence, or belongs to an abbreviation. */
  readonly stop: "" | "."
  readonly trail: string
}

const leading = new Set("([{\"'“‘«»„‚‹›¿¡*_`|")
const trailing = new Set(")]}\"'”’“‘»«›‹,;:!?…*_`|")

/** `groupSpace`: what may stand between groups of three digits, which are one word: 1 234 567. */
export const wordsOf = (text: string, groupSpace?: RegExp): ReadonlyArray<Word> => {
  const words: Array<Word> = []
  let end = 0
  for (const { 0: written, index } of text.matchAll(/\S+/gu)) {
    if (index < end) continue
    end = index + written.length
    if (groupSpace !== undefined && /(?:^|[^\d.,])\d{1,3}$/u.test(written.slice(-4)) && !/^\+|^0\d/u.test(written)) {
      end = endOfGroups(text, end, groupSpace)
    }
    words.push(wordOf(text.slice(index, end), index))
  }
  return words
}

/** The end of a number of groups, with what is written behind it. */
const endOfGroups = (text: string, from: number, groupSpace: RegExp): number => {
  let at = from
  for (let groups = 0; groups < 6; groups += 1) {
    if (!groupSpace.test(text[at] ?? "") || !/^\d{3}(?!\d)/u.test(text.slice(at + 1, at + 5))) break
    at += 4
  }
  if (at > from) while (at < text.length && !/\s/u.test(text[at] ?? " ")) at += 1
  return at
}

const wordOf = (text: string, index: number): Word => {
  let [from, to] = [text.startsWith("![") ? 1 : 0, text.length]
  while (from < to && leading.has(text[from] ?? "") && !isApostrophe(text, from) && !text.startsWith("*.", from))
    from += 1
  // "...7734" is the end of a longer row.
  if (/^(?:\.{2,3}|…)\d/u.test(text.slice(from, from + 4))) from = text.slice(from).search(/\d/u) + from
  const link = text.indexOf("](", from)
  if (link > 0) to = link
  while (to > from && (trailing.has(text[to - 1] ?? "") || isOutside(text, to)) && !isOwn(text, from, to)) to -= 1
  if (from === to) return { text, index, lead: "", core: text, stop: "", trail: "" }
  const stop = text[to - 1] === "." && to - from > 1 ? "." : ""
  const core = text.slice(from, to - stop.length)
  return { text, index, lead: text.slice(0, from), core, stop, trail: text.slice(to) }
}

/** "'90s", "'99": the apostrophe stands for the century. */
const isApostrophe = (text: string, at: number) =>
  /^['’‘]\d\d(?!\d*['’%\p{L}])|^['’‘]\d\ds/u.test(text.slice(at, at + 5))

/** The bracket of "foo()" and "401(k)" is the word's, and so is the prime of a height. */
const isOwn = (text: string, from: number, to: number) => text[to - 1] === ")" && text.slice(from, to).includes("(")

/** "1)." ends a sentence, "etc." may not, and "wait..." is no abbreviation. */
const isOutside = (text: string, to: number) =>
  text[to - 1] === "." && (trailing.has(text[to - 2] ?? "") || text[to - 2] === "." || text[to] === ".")

/** A word among its neighbours. */
export interface Place {
  readonly words: ReadonlyArray<Word>
  readonly at: number
  readonly locale: string
  /** The text of the words. */
  readonly text: string
}

/** For what is read alike wherever it stands. */
export const nowhere: Place = { words: [], at: 0, locale: "", text: "" }

export const wordAt = ({ words, at }: Place, offset = 0): Word | undefined => words[at + offset]

/** The core of the word before, whatever stands in between; empty at the start. */
export const previousCore = (place: Place): string => wordAt(place, -1)?.core ?? ""

/** The word `offset` further on, if no punctuation separates it from this one. */
export const following = (place: Place, offset = 1): Word | undefined => {
  for (let n = 1; n <= offset; n += 1) {
    const [before, after] = [wordAt(place, n - 1), wordAt(place, n)]
    if (before === undefined || after === undefined) return undefined
    if (before.stop !== "" || before.trail !== "" || after.lead !== "") return undefined
  }
  return wordAt(place, offset)
}

/** Whether a sentence can end here: nothing follows, or what can start one, as a capital does. */
export const mayEndSentence = (place: Place, starts = (core: string) => /^\p{Lu}/u.test(core)): boolean => {
  if (/^[,;:)]/u.test(wordAt(place)?.trail ?? "")) return false
  const next = wordAt(place, 1)
  return next === undefined || starts(next.core) || /^["“‘«„»]/u.test(next.lead)
}

/** What is spoken for a word and those after it. */
export interface Said {
  /** One text for each written word; null: the word is in the text before. An empty one is silent. */
  readonly parts: ReadonlyArray<string | null>
  /** The last word's full stop belongs to it, and ends no sentence. */
  readonly takesStop?: boolean
  /** Brackets around the words, and a prime behind them, belong to what is said. */
  readonly isBare?: boolean
}

export const said = (...parts: ReadonlyArray<string | null>): Said => ({ parts })
