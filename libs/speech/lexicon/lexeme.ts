/** One word of a lexicon, checked; and what all lexicons are held to. Pure. */
import { Result } from "effect"
import type { Lexeme } from "#contracts"
import { type PhonemesRead, readIpa } from "../phonemes/ipa.ts"
import { readXSampa } from "../phonemes/x-sampa.ts"

/** A lexicon that was read. */
export interface Lexicon {
  readonly format: "pls" | "list"
  /** The language of the texts that it is for; any without one. */
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
