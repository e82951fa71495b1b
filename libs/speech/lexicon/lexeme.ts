/**
 * The words of a lexicon, checked; the limits of all lexicons; and where their words occur in a text. Only entire words
 * are found; the longest that starts at a position counts, and of equals the first. A word written in small letters is
 * also found in capitals. Pure, linear in the text.
 */
import { Result } from "effect"
import type { Lexeme } from "#speech/contract"
import { type PhonemesRead, readIpa, readXSampa } from "../phonemes/ipa.ts"
import { isSsml } from "../ssml/document.ts"
import { Run, sliceRun, type TextRun } from "../text/runs.ts"

/** A lexicon that was read. */
export interface Lexicon {
  readonly format: "pls" | "list"
  /** The language of the texts that it applies to; any without one. */
  readonly language?: string
  readonly lexemes: ReadonlyArray<Lexeme>
}

export const lexiconLimits = {
  /** Of the document, in UTF-16 units. */
  charactersMax: 100_000,
  /** Spellings of words. */
  entriesMax: 1_000,
  graphemeMax: 100,
  aliasMax: 400,
  phonemesMax: 400,
  faultsMax: 10
} as const

/** Says what is wrong, and in which line. */
export type LexiconRead = Result.Result<Lexicon, ReadonlyArray<string>>

const alphabets: Readonly<Record<string, (ph: string) => PhonemesRead>> = { ipa: readIpa, "x-sampa": readXSampa }

interface Spoken {
  readonly alias?: string
  readonly phonemes?: { readonly ph: string; readonly alphabet: string }
}

/** A word and how it is spoken, checked. */
export const lexemeOf = (written: string, { alias: said, phonemes }: Spoken): Result.Result<Lexeme, string> => {
  const [grapheme, alias] = [tidy(written), said === undefined ? undefined : tidy(said)]
  const { aliasMax, graphemeMax, phonemesMax } = lexiconLimits
  if (!/[\p{L}\p{N}\p{S}&%@#§]/u.test(grapheme)) return Result.fail("there is no word")
  if (grapheme.length > graphemeMax) return Result.fail(`the word is longer than ${graphemeMax} characters`)
  if (alias === "") return Result.fail(`${grapheme} has nothing to be spoken as`)
  if (alias !== undefined && alias.length > aliasMax) {
    return Result.fail(`the alias of ${grapheme} is longer than ${aliasMax} characters`)
  }
  if (/\p{Cc}/u.test(grapheme + (alias ?? ""))) return Result.fail("a control character is no part of a word")
  const spokenAs = alias === undefined ? {} : { alias }
  if (phonemes === undefined) return Result.succeed({ grapheme, ...spokenAs })
  const readPhonemes = alphabets[phonemes.alphabet.toLowerCase()]
  if (readPhonemes === undefined)
    return Result.fail(`the alphabet ${phonemes.alphabet.slice(0, 40)} is not known; ipa and x-sampa are`)
  if (phonemes.ph.length > phonemesMax)
    return Result.fail(`the phonemes of ${grapheme} are longer than ${phonemesMax} characters`)
  const read = readPhonemes(phonemes.ph.trim())
  if ("ipa" in read) return Result.succeed({ grapheme, ...spokenAs, ipa: read.ipa })
  return Result.fail(`the phonemes of ${grapheme} cannot be read: ${read.fault} (character ${read.at})`)
}

const tidy = (text: string) => text.normalize("NFC").replaceAll(/\s+/gu, " ").trim()

const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}"
const wordLetter = `(?![${unspaced}])[\\p{L}\\p{M}\\p{N}]`
/** Where a word can start: a run of letters, a character of a script without spaces, or a sign. */
const starts = new RegExp(`(?:${wordLetter})+|\\S`, "gu")
/** The words that start with the same parts, part by part, so that a text is read once however many words there are. */
export interface Matcher<A extends Lexeme> {
  readonly next: Map<string, Matcher<A>>
  /** The words that end here, as written. */
  readonly exact: Map<string, A>
  /** The one written in small letters. */
  small?: A
}

const emptyMatcher = <A extends Lexeme>(): Matcher<A> => ({ next: new Map(), exact: new Map() })

interface Part {
  readonly key: string
  readonly from: number
  readonly to: number
}

const partsOf = (text: string): ReadonlyArray<Part> => {
  let end = 0
  return Array.from(text.matchAll(starts), ({ 0: written, index }) => {
    const space = index > end ? " " : ""
    end = index + written.length
    return { key: space + written.normalize("NFC").toLowerCase(), from: index, to: end }
  })
}

const asWritten = (text: string) => text.normalize("NFC").replaceAll(/\s+/gu, " ")

/** Of two lexemes for a word the first counts. */
export const matcherOf = <A extends Lexeme>(lexemes: ReadonlyArray<A>): Matcher<A> => {
  const root = emptyMatcher<A>()
  for (const lexeme of lexemes) {
    const grapheme = asWritten(lexeme.grapheme)
    let at = root
    for (const { key } of partsOf(grapheme)) {
      const next = at.next.get(key) ?? emptyMatcher<A>()
      at.next.set(key, next)
      at = next
    }
    if (!at.exact.has(grapheme)) at.exact.set(grapheme, lexeme)
    if (grapheme === grapheme.toLowerCase()) at.small ??= lexeme
  }
  return root
}

interface Found<A> {
  readonly from: number
  readonly to: number
  readonly lexeme: A
}

export const wordsFound = <A extends Lexeme>(text: string, matcher: Matcher<A>): ReadonlyArray<Found<A>> => {
  if (matcher.next.size === 0) return []
  const parts = partsOf(text)
  const found: Array<Found<A>> = []
  for (let at = 0; at < parts.length;) {
    const longest = longestAt(text, parts, { at, matcher })
    if (longest !== undefined) found.push(longest.found)
    at = longest?.next ?? at + 1
  }
  return found
}

const longestAt = <A extends Lexeme>(
  text: string,
  parts: ReadonlyArray<Part>,
  { at, matcher }: { readonly at: number; readonly matcher: Matcher<A> }
) => {
  const from = parts[at]?.from ?? 0
  let longest: { readonly found: Found<A>; readonly next: number } | undefined
  // Blanks before the first part do not matter.
  let node = matcher.next.get(parts[at]?.key.trimStart() ?? "")
  for (let next = at + 1; node !== undefined; next += 1) {
    const to = parts[next - 1]?.to ?? from
    const lexeme = node.exact.size === 0 ? undefined : (node.exact.get(asWritten(text.slice(from, to))) ?? node.small)
    if (lexeme !== undefined) longest = { found: { from, to, lexeme }, next }
    node = node.next.get(parts[next]?.key ?? "")
  }
  return longest
}

interface Needed<A> {
  readonly lexemes: ReadonlyArray<A>
  /** What they add to the text, each time that they occur in it. */
  readonly charactersMore: number
}

/** Those that an input may need: what the sequencer gets, and what determines the bytes. */
export const lexemesIn = <A extends Lexeme>(input: string, matcher: Matcher<A>): Needed<A> => {
  if (matcher.next.size === 0) return { lexemes: [], charactersMore: 0 }
  const found = wordsFound(isSsml(input) ? decoded(input) : input, matcher)
  const charactersMore = found.reduce(
    (sum, { lexeme }) => sum + (lexeme.alias ?? "").length + (lexeme.ipa ?? "").length,
    0
  )
  return { lexemes: [...new Set(found.map(({ lexeme }) => lexeme))], charactersMore }
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/** Good enough to find words: faults in the document are found later. */
const decoded = (input: string) =>
  withoutTags(input).replaceAll(
    /&(?:#(?:x([\da-fA-F]{1,6})|(\d{1,7}))|(amp|lt|gt|quot|apos));/gu,
    (written, hex, digits, name) => {
      if (name !== undefined) return named[String(name)] ?? ""
      const code = hex === undefined ? Number(digits) : Number.parseInt(String(hex), 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : String(written)
    }
  )

const withoutTags = (input: string) => {
  let [text, from] = ["", 0]
  for (;;) {
    const open = input.indexOf("<", from)
    const close = open === -1 ? -1 : input.indexOf(">", open)
    if (close === -1) return text + input.slice(from)
    text += `${input.slice(from, open)}\n`
    from = close + 1
  }
}

/** Runs in which each word of a lexicon is spoken as defined there, and keeps its position in the input. */
export const withLexemes = (
  runs: ReadonlyArray<Run>,
  lexemesOf: (run: TextRun) => Matcher<Lexeme>
): ReadonlyArray<Run> =>
  runs.flatMap((run): ReadonlyArray<Run> => {
    if (run._tag !== "Text" || run.whole !== null) return [run]
    const words = wordsFound(run.text, lexemesOf(run))
    if (words.length === 0) return [run]
    const parts: Array<Run> = []
    let done = 0
    for (const { from, to, lexeme } of words) {
      if (from > done) parts.push(sliceRun(run, done, from))
      const span = { start: run.starts[from] ?? 0, end: run.ends[to - 1] ?? 0 }
      const text = lexeme.alias ?? run.text.slice(from, to)
      const whole = Run.Whole(text.replaceAll(/\s/gu, " "), span, run.style, lexeme.ipa)
      parts.push(run.language === undefined ? whole : { ...whole, language: run.language })
      done = to
    }
    if (done < run.text.length) parts.push(sliceRun(run, done, run.text.length))
    return parts
  })
