/**
 * Where sentences end. Unicode's rules (right for every script, line ends included), with the breaks taken back that
 * they set too many: after abbreviations and initials, after the number of a list item, before a small letter,
 * inside an address, and before text that has nothing to say.
 */
import { goesOnAfter } from "./abbreviations.ts"
import { segmenterOf } from "./segmenters.ts"

/** The ends of the sentences of `text`, white space after them included; the last is its length. */
export const sentenceEnds = (text: string, locale: string): ReadonlyArray<number> => {
  const ends: Array<number> = []
  const segments = Array.from(segmenterOf(locale, "sentence").segment(text), ({ index }) => index)
  let start = 0
  let hasSaid = false
  for (const [nth, index] of segments.entries()) {
    const says = saysSomething(text, index, segments[nth + 1] ?? text.length)
    if (hasSaid && says && !goesOn(text, start, index)) {
      ends.push(index)
      start = index
    }
    hasSaid = hasSaid || says
  }
  if (text.length > 0) ends.push(text.length)
  return ends
}

/** How far an abbreviation, or an opening quote before the next word, is looked for. */
const reach = 16

const goesOn = (text: string, start: number, at: number): boolean => {
  const leftEnd = endOfWords(text, start, at)
  if (linesBetween(text, leftEnd, at) > 1) return false
  if (leftEnd === at && /[\u0021-\u007e]/u.test(text[at - 1] ?? "")) return true
  const next = nextWord(text, at)
  if (/^\p{Ll}/u.test(next) && !/^\s*[([{]/u.test(text.slice(at, at + 2))) return true
  if (next === "" || text[leftEnd - 1] !== ".") return false
  const left = text.slice(Math.max(start, leftEnd - 1 - reach), leftEnd - 1)
  const word = left.slice(left.search(/[^\s([{"'“‘«¿¡]*$/u))
  return goesOnAfter(word, next) || isListNumber(text, start, leftEnd)
}

const endOfWords = (text: string, start: number, at: number) => {
  let end = at
  while (end > start && isSpace(text, end - 1)) end -= 1
  return end
}

const isSpace = (text: string, at: number) => /\s/u.test(text[at] ?? "")

const linesBetween = (text: string, from: number, to: number) => {
  let lines = 0
  for (let at = from; at < to; at += 1) {
    if (text[at] === "\n" || text[at] === "\u2029" || (text[at] === "\r" && text[at + 1] !== "\n")) lines += 1
  }
  return lines
}

/** The word after `at`, quotes and brackets before it left out; empty where something else stands there. */
const nextWord = (text: string, at: number) =>
  /^[\s([{"'“”‘’«»„¿¡]{0,8}([\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*)/u.exec(text.slice(at, at + 2 * reach))?.[1] ?? ""

/** "1." and "12." at the start of a sentence number it. */
const isListNumber = (text: string, start: number, end: number) =>
  end - start <= reach && /^\s*\(?\p{Nd}{1,3}\.$/u.test(text.slice(start, end))

const saysSomething = (text: string, from: number, to: number) => /[\p{L}\p{N}\p{S}&%@#§]/u.test(text.slice(from, to))
