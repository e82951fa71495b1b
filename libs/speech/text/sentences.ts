/** The sentences of a text. */
import type { Passage } from "./runs.ts"
import type { Word } from "./words.ts"
import { segmenterOf } from "./segmenter.ts"
import { germanOpeners } from "./openers.ts"

/**
 * The ends of sentences follow Unicode's rules (right for every script, line ends included), minus the breaks that these
 * rules set too often: after abbreviations and initials, after the number of a list item, before a small letter, inside
 * an address, and before text that has nothing to say.
 *
 * The words of each sentence: a word belongs to the sentence in which it starts. Index ranges into `words`, in order,
 * none of them empty, all of them together.
 */
export const sentenceRanges = (
  passage: Passage,
  words: ReadonlyArray<Word>,
  locale: string
): ReadonlyArray<readonly [from: number, to: number]> => {
  const ranges: Array<readonly [from: number, to: number]> = []
  const spoken = maskAliases(passage)
  let [start, from] = [0, 0]
  for (const boundary of [...passage.boundaries, passage.text.length]) {
    for (const end of sentenceEnds(spoken.slice(start, boundary), locale)) {
      let to = from
      while ((words[to]?.from ?? Infinity) < start + end) to += 1
      if (to > from) ranges.push([from, to])
      from = to
    }
    start = boundary
  }
  return ranges
}

// A full stop inside an alias does not end a sentence of the input.
const maskAliases = ({ segments, text }: Passage) => {
  const parts: Array<string> = []
  let at = 0
  for (const { from, to, whole } of segments) {
    if (!whole || to - from < 2) continue
    parts.push(text.slice(at, from), text.slice(from, to - 1).replaceAll(/[.!?。！？…\n]/gu, ","))
    at = to - 1
  }
  return parts.join("") + text.slice(at)
}

/** The ends of the sentences of `text`, including white space after them; the last is its length. */
const sentenceEnds = (text: string, locale: string): ReadonlyArray<number> => {
  const ends: Array<number> = []
  const segments = Array.from(segmenterOf(locale, "sentence").segment(text), ({ index }) => index)
  let start = 0
  let hasSpoken = false
  for (const [nth, index] of segments.entries()) {
    const speaks = isSpeakable(text, index, segments[nth + 1] ?? text.length)
    if (hasSpoken && speaks && !continuesAt(text, start, index)) {
      ends.push(index)
      start = index
    }
    hasSpoken = hasSpoken || speaks
  }
  if (text.length > 0) ends.push(text.length)
  return ends
}

/** How far to search for an abbreviation, or for an opening quote before the next word. */
const reach = 16
/** Text further on than this does not affect the end of a sentence. */
export const wordReach = 2 * reach

/** Whether the sentence continues at `at`, where the rules of Unicode end it. */
export const continuesAt = (text: string, start: number, at: number): boolean => {
  const leftEnd = endOfWords(text, start, at)
  if (linesBetween(text, leftEnd, at) > 1) return false
  if (leftEnd === at && /[\u0021-\u007e]/u.test(text[at - 1] ?? "")) return true
  const next = nextWord(text, at)
  if (/^\p{Ll}/u.test(next) && !/^\s*[([{]/u.test(text.slice(at, at + 2))) return true
  if (next === "" || text[leftEnd - 1] !== ".") return false
  if (continuesAfter(wordBefore(text, start, leftEnd), next) || isListNumber(text, start, leftEnd)) return true
  return isOrdinal(text.slice(Math.max(start, leftEnd - wordReach), leftEnd), next)
}

/** The word before the full stop that precedes `end`. */
const wordBefore = (text: string, start: number, end: number) => {
  const left = text.slice(Math.max(start, end - 1 - reach), end - 1)
  return left.split(/[\s([{"'“‘«¿¡]/u).at(-1) ?? ""
}

/** Whether the entire word at `at` decides if the sentence before it continues. */
export const mayGoOnAfter = (text: string, at: number): boolean => {
  const end = endOfWords(text, 0, at)
  if (text[end - 1] !== ".") return false
  const word = wordBefore(text, 0, end)
  const lower = word.toLowerCase()
  const isShort = /^(?:\p{Nd}{1,3}|\p{Lu}{2}|[nv])$/u.test(word)
  return counting.has(lower) || streets.has(lower) || halves.test(word) || isShort || isInitial(word)
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

/** The word after `at`, without quotes and brackets before it; empty if another character is there. */
const nextWord = (text: string, at: number) =>
  /^[\s([{"'“”‘’«»„¿¡*#]{0,8}([\p{L}\p{N}\p{Sc}][\p{L}\p{M}\p{N}'’]*)/u.exec(text.slice(at, at + wordReach))?.[1] ?? ""

/** "1." and "12." at the start of a sentence number it. */
const isListNumber = (text: string, start: number, end: number) =>
  end - start <= reach && /^\s*\(?\p{Nd}{1,3}\.$/u.test(text.slice(start, end))

export const isSpeakable = (text: string, from: number, to: number) =>
  /[\p{L}\p{N}\p{S}&%@#§]/u.test(text.slice(from, to))

// Words with a full stop that need not end a sentence, over the languages that are spoken here.

/** A name, a number or an example always follows these. */
const leading = new Set(
  (
    "mr mrs ms mx dr prof rev hon gen col maj capt lt cpl sgt cmdr adm gov sen rep pres supt st mt ft messrs vs e.g i.e " +
    "cf viz fr hr dipl ing bzw z.b d.h u.a s.o sr sra srta dra ud uds dña mme mlle mgr p.ex sig sig.ra dott avv sto sta " +
    "z v.chr mio mrd tsd mln mld inkl exkl zzgl ggf evtl vgl sog bspw mind insb jew arch geom spett egr sigg avda pza ctra env"
  ).split(" ")
)

/** These only before a number. */
const counting = new Set(
  (
    "no nos nr n núm num fig figs vol p pp pg art sec ch eq ca approx ver tel bd kap cap jan feb mar apr jun jul aug sep sept " +
    "oct nov dec apt ste rm ext max min op eqs prop"
  ).split(" ")
)

/** Words that start a sentence far more often than they follow an initial or "U.S.". */
export const openers: ReadonlySet<string> = new Set(
  (
    "the a an this that these those he she it they we you i his her their our my in on at but and so then when while " +
    "after before if as there here what who how why yes no not for however"
  ).split(" ")
)

/** Behind "p.m.": zones of North America and Europe, the universal time, and days. */
const zones = /^(?:[ECMP][SD]?T|UTC|GMT|BST|CES?T|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)$/u
const halves = /^[ap]\.m$/iu

/** Behind a street: "Pennsylvania Ave. NW". */
const streets = new Set("st ave blvd rd dr ln ct pl hwy pkwy".split(" "))
const quarters = /^(?:[NS][EW]?|[EW])$/u

/** "Im 19. Jahrhundert", "seine 2. Wahl": an ordinal in German, behind what goes before a noun alone. */
const ordinal =
  /(?:^|\s)(?:de[rmns]|d(?:ie|as)|im|ins|zu[mr]|vom|beim|[msd]eine?[mnrs]?|ihre?[mnrs]?|unsere?[mnrs]?) \p{Nd}{1,3}\.$/iu
const isOrdinal = (left: string, next: string) =>
  /^\p{Lu}\p{Ll}/u.test(next) && !openers.has(next.toLowerCase()) && !germanOpeners.has(next) && ordinal.test(left)

const germanMonths = new Set(
  "januar februar märz april mai juni juli august september oktober november dezember".split(" ")
)

/** Whether the sentence continues after `word`, which precedes a full stop, given the word that follows. */
const continuesAfter = (word: string, next: string): boolean => {
  const lower = word.toLowerCase()
  const following = next.toLowerCase()
  if (leading.has(lower) || (word === "v" && /^\p{Lu}/u.test(next))) return true
  if ((streets.has(lower) && quarters.test(next)) || (halves.test(word) && zones.test(next))) return true
  if (counting.has(lower)) return /^\p{Nd}/u.test(next)
  if (/^\p{Nd}{1,2}$/u.test(word)) return germanMonths.has(following)
  // "EE. UU.", "v. Chr."
  if (/^(\p{Lu})\1$/u.test(word)) return /^\p{Lu}{2}$/u.test(next)
  if (next === "Chr") return /^[nv]$/u.test(word)
  return isInitial(word) && !openers.has(following)
}

/** "J", "J.R" and "U.S", but not "I": that one is a word. */
const isInitial = (word: string) => {
  const last = word.slice(word.lastIndexOf(".") + 1)
  return /^\p{Lu}\p{M}?$/u.test(last) && (word.length > 1 || word !== "I")
}
