/**
 * Text that is still being written, cut into clauses as soon as the end of each is certain. The first clause is short,
 * so that it is heard soon; later ones are sentences, or parts of long ones. The cuts depend on the text alone, never
 * on the pieces in which it came. Pure, except for its state.
 */
import { chunkLimits } from "./chunker.ts"
import type { Fault } from "./runs.ts"
import { continuesAt, isSpeakable, mayGoOnAfter, wordReach } from "./sentences.ts"

/** A part of the text as written, including white space after it. */
export interface Clause {
  readonly text: string
  /** Its position in the full text, in UTF-16 units. */
  readonly start: number
  /** It was cut between words, because the rest took too long. */
  readonly goesOn?: true
}

export interface ClauseSplitter {
  /** Takes in the next piece, and returns the clauses that are now known to have ended. */
  readonly push: (piece: string) => ReadonlyArray<Clause>
  /** Everything up to the last word's end, or all of it if that is one word: it has waited long enough. */
  readonly overdue: () => ReadonlyArray<Clause>
  /** Everything. */
  readonly flush: () => ReadonlyArray<Clause>
  /** How much is held back, in UTF-16 units. */
  readonly pending: () => number
  /** Why the next piece cannot be taken, by its position in the full text. */
  readonly faultIn: (piece: string) => Fault | undefined
  /** What was opened and not closed: nothing after it can be spoken as it is. */
  readonly unclosed: () => Fault | undefined
}

export const clauseSplitter = (): ClauseSplitter => {
  let pending = ""
  let start = 0
  // Only silence came before it.
  let isFirst = true
  // No clause ends at a word before this one, whatever text comes.
  let passed = 0
  const cutAt = (end: number): Clause => {
    const clause = { text: pending.slice(0, end), start }
    pending = pending.slice(end)
    start += end
    isFirst = false
    passed = 0
    return clause
  }
  const known = (isComplete: boolean) => {
    const clauses: Array<Clause> = []
    for (;;) {
      const looked = clauseEnd(pending, { isFirst, isComplete, passed })
      passed = looked.passed
      if (looked.end === undefined) return clauses
      clauses.push(cutAt(looked.end))
    }
  }
  return {
    push: (piece) => {
      pending += piece
      return known(false)
    },
    overdue: () => {
      const end = lastWord(pending) ?? pending.length
      return isSpeakable(pending, 0, end) ? [cutAt(end)] : []
    },
    flush: () => {
      const clauses = known(true)
      if (pending !== "") clauses.push(cutAt(pending.length))
      isFirst = true
      return clauses
    },
    pending: () => pending.length,
    faultIn: () => undefined,
    unclosed: () => undefined
  }
}

interface Known {
  /** Nothing was spoken before it. */
  readonly isFirst: boolean
  /** No more text comes. */
  readonly isComplete: boolean
}

interface Looked {
  /** Undefined while it is unknown. */
  readonly end: number | undefined
  readonly passed: number
}

/**
 * Where the first clause ends: the start of the next word. It reads no further than a word beyond that position, so
 * later text changes nothing.
 */
const clauseEnd = (written: string, { passed, ...known }: Known & Pick<Looked, "passed">): Looked => {
  const { isComplete } = known
  // Half a character says nothing.
  const text = !isComplete && isHighSurrogate(written, written.length - 1) ? written.slice(0, -1) : written
  let space = passed
  for (let at = nextWord(text, space); at <= chunkLimits.chunkMax; at = nextWord(text, at)) {
    const verdict = verdictAt(text, at, known)
    if (verdict === "ends") return { end: at, passed: space }
    if (verdict === "unknown") return { end: undefined, passed: space }
    space = at
  }
  if (text.length <= chunkLimits.chunkMax + wordReach) return { end: undefined, passed: space }
  return { end: space === 0 ? wholeCharacters(text, chunkLimits.chunkMax) : space, passed: space }
}

type Verdict = "ends" | "goes on" | "unknown"

const closers = "[\"'”’»)\\]】」』）》]{0,3}"
const wideEnd = new RegExp(`[。！？]${closers}\\s*$`, "u")
const wideClauseEnd = new RegExp(`[，、；：…]${closers}\\s*$`, "u")
const sentenceEnd = new RegExp(`[.!?…]${closers}\\s+$`, "u")
const clauseSign = new RegExp(`[,;:–—؛،]${closers}\\s+$`, "u")
const lineEnd = /[\n\u2029][^\S\n\u2029]*$/u
/** Longer than any sign with its closers and the relevant space after it. */
const signReach = 24

const verdictAt = (text: string, at: number, known: Known): Verdict => {
  const left = text.slice(Math.max(0, at - signReach), at)
  const isSentence = wideEnd.test(left) || sentenceEnd.test(left) || lineEnd.test(left)
  if (!isSentence) {
    const isEnd = endsClause(left, text.slice(0, at).trimEnd().length, known.isFirst) && !isWithinDate(text, at, left)
    return isEnd ? "ends" : "goes on"
  }
  if (!isSpeakable(text, 0, at)) return "goes on"
  if (wideEnd.test(left)) return "ends"
  if (!known.isComplete && !isNextWordKnown(text, at)) return "unknown"
  return continuesAt(text, 0, at) ? "goes on" : "ends"
}

const endsClause = (left: string, length: number, isFirst: boolean) =>
  length >= (isFirst ? chunkLimits.firstMin : chunkLimits.clauseMin) &&
  (clauseSign.test(left) || wideClauseEnd.test(left))

const weekdayBefore = /(?:^|\s)(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\p{Ll}{0,6}\.?,\s+$/u
const numberBefore = /\d(?:\s?[ap]\.?m\.?)?\s?[,–—]\s+$/iu

/** "May 10, 2024", "4 pm – 6 pm", "Fri, Jun 14": what stands on both sides is read together. */
const isWithinDate = (text: string, at: number, left: string) =>
  numberBefore.test(left) ? /\d/u.test(text[at] ?? "") : weekdayBefore.test(left) && /[\p{Lu}\d]/u.test(text[at] ?? "")

const onlyQuotes = /^[\s([{"'“”‘’«»„¿¡]*$/u
const stillInWord = /^[\s([{"'“”‘’«»„¿¡]*(?:[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}'’]*)?$/u

/** Whether enough of the next word has arrived to decide about the sentence before it. */
const isNextWordKnown = (text: string, at: number) => {
  const next = text.slice(at, at + wordReach)
  if (next.length === wordReach) return true
  return mayGoOnAfter(text, at) ? !stillInWord.test(next) : !onlyQuotes.test(next)
}

const wide = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}"
const starts = new RegExp(`(?<=\\s)(?=\\S)|(?<=[。！？，、；：]${closers})(?=[${wide}A-Za-z0-9])`, "gu")

/** Where a word starts after white space, or after a sign of Chinese or Japanese; infinite if none does. */
const nextWord = (text: string, after: number): number => {
  // Within a pair, the search would start over at its beginning.
  starts.lastIndex = after + (isHighSurrogate(text, after) ? 2 : 1)
  return starts.exec(text)?.index ?? Infinity
}

/** The start of the last word, as far as a clause can reach. */
const lastWord = (text: string): number | undefined => {
  let last: number | undefined
  for (let at = nextWord(text, 0); at < chunkLimits.chunkMax + wordReach; at = nextWord(text, at)) last = at
  return last
}

const isHighSurrogate = (text: string, at: number) => /[\ud800-\udbff]/u.test(text[at] ?? "")

/** The position at or before `at` that splits no character. */
const wholeCharacters = (text: string, at: number): number => {
  for (let cut = at; cut > at - 16; cut -= 1) {
    if (!isHighSurrogate(text, cut - 1) && !/^[\p{M}\u200d]/u.test(text.slice(cut, cut + 2))) return cut
  }
  return isHighSurrogate(text, at - 1) ? at - 1 : at
}
