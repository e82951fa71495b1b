/** The words of a passage: by Unicode's rules, or by a dictionary where a script writes no spaces. */
import type { Passage, Segment } from "./runs.ts"
import { segmenterOf } from "./segmenter.ts"

export interface Word {
  readonly from: number
  readonly to: number
  /** False for punctuation alone, which makes no sound. */
  readonly isSpoken: boolean
  readonly segment: Segment
}

/** A longer text without a space is not a word: it is split, so that a mark never spans a minute. */
const wordCharactersMax = 200

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const spoken = /[\p{L}\p{N}\p{M}\p{S}\p{Co}&%@#§]/u

const opening = /^[\p{Ps}\p{Pi}]+$/u

/**
 * The words of a passage: the text between white space, punctuation attached, so that together they cover the input.
 * Scripts written without spaces are split by dictionary. A style, a sub or a say-as starts a new word.
 */
export const wordsOf = (passage: Passage, locale: string): ReadonlyArray<Word> => {
  const words: Array<Word> = []
  for (const segment of passage.segments) {
    if (segment.whole) words.push({ from: segment.from, to: segment.to, isSpoken: isAlias(passage, segment), segment })
    else addWords(words, passage, segment, locale)
  }
  return words
}

/** The replacement of a word can be punctuation alone. */
const isAlias = ({ text }: Passage, { from, ipa, to }: Segment) =>
  ipa !== undefined || spoken.test(text.slice(from, to))

const addWords = (words: Array<Word>, passage: Passage, segment: Segment, locale: string) => {
  const text = passage.text.slice(segment.from, segment.to)
  const add = (from: number, to: number) =>
    words.push({
      from: segment.from + from,
      to: segment.from + to,
      isSpoken: spoken.test(text.slice(from, to)),
      segment
    })
  for (const { 0: written, index } of text.matchAll(/\S+/gu)) {
    const cuts = unspaced.test(written) ? dictionaryCuts(written, locale) : [written.length]
    let from = index
    for (const cut of cuts) {
      while (index + cut - from > wordCharactersMax) {
        const to = cutWithin(passage, segment.from, from + wordCharactersMax)
        add(from, to)
        from = to
      }
      if (index + cut > from) add(from, index + cut)
      from = index + cut
    }
  }
}

/** Ends of words; punctuation goes with the word before it, an opening bracket with the word after it. */
const dictionaryCuts = (written: string, locale: string): ReadonlyArray<number> => {
  const cuts: Array<number> = []
  let isOpening = false
  let hasWord = false
  for (const { index, segment } of segmenterOf(locale, "word").segment(written)) {
    const isWord = spoken.test(segment)
    const opens = !isWord && opening.test(segment)
    if (index > 0 && !isOpening && hasWord && (isWord || opens)) {
      cuts.push(index)
      hasWord = false
    }
    isOpening = opens || (isOpening && !isWord)
    hasWord = hasWord || isWord
  }
  cuts.push(written.length)
  return cuts
}

/** Where to split a word at or before `at`: not inside a surrogate pair, a cluster or an entity. */
const cutWithin = (passage: Passage, base: number, at: number): number => {
  for (let cut = at; cut > at - 16; cut -= 1) if (isBoundary(passage, base + cut)) return cut
  return isBoundary(passage, base + at - 1) ? at - 1 : at
}

const isBoundary = ({ text, starts }: Passage, at: number) => {
  const code = text.codePointAt(at - 1) ?? 0
  return code <= 0xffff && starts[at] !== starts[at - 1] && !/^[\p{M}\u200d]/u.test(text.slice(at, at + 2))
}
