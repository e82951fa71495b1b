/**
 * A lexicon: words, and how they are to be spoken. It is a document of PLS 1.0 or a plain list, a line for each word:
 * `SQL = sequel`, or `Nguyen /ŋwiən/`. Read strictly: all that is wrong is said with its place. Pure.
 */
import { Result } from "effect"
import type { Lexeme } from "#contracts"
import { lexemeOf, type Lexicon, lexiconLimits, type LexiconRead } from "./lexeme.ts"
import { readPls } from "./pls.ts"

export const readLexicon = (text: string): LexiconRead => {
  if (text.length > lexiconLimits.charactersMax) {
    return Result.fail([`it has ${text.length} characters, at most ${lexiconLimits.charactersMax} are taken`])
  }
  if (!text.isWellFormed()) return Result.fail(["half a surrogate pair is not a character"])
  const read = /^[\s\ufeff]*</u.test(text) ? readPls(text) : readList(text)
  return Result.flatMap(read, checked)
}

const checked = (lexicon: Lexicon): LexiconRead => {
  const { length } = lexicon.lexemes
  if (length === 0) return Result.fail(["it has no words"])
  if (length > lexiconLimits.entriesMax) {
    return Result.fail([`it has ${length} spellings of words, at most ${lexiconLimits.entriesMax} are taken`])
  }
  // Of two entries for a word the first counts, as in PLS.
  const first = new Map(lexicon.lexemes.toReversed().map((lexeme) => [lexeme.grapheme, lexeme]))
  return Result.succeed({ ...lexicon, lexemes: lexicon.lexemes.filter((one) => first.get(one.grapheme) === one) })
}

const readList = (text: string): LexiconRead => {
  const lexemes: Array<Lexeme> = []
  const faults: Array<string> = []
  for (const [at, line] of text
    .replace(/^\ufeff/u, "")
    .split(/\r\n|[\n\r]/u)
    .entries()) {
    if (/^\s*(?:#|$)/u.test(line)) continue
    const read = readLine(line.trim())
    if (Result.isSuccess(read)) lexemes.push(read.success)
    else if (faults.length < lexiconLimits.faultsMax) faults.push(`line ${at + 1}: ${read.failure}`)
  }
  return faults.length > 0 ? Result.fail(faults) : Result.succeed({ format: "list", lexemes })
}

const readLine = (line: string): Result.Result<Lexeme, string> => {
  const [, spelled = "", phonemes] = /^(.*?)\s*\/([^/]*)\/$/u.exec(line) ?? []
  if (phonemes !== undefined) return lexemeOf(spelled, { phonemes: { ph: phonemes, alphabet: "ipa" } })
  const at = line.indexOf("=")
  if (at === -1) return Result.fail("neither `word = alias` nor `word /ipa/`")
  return lexemeOf(line.slice(0, at), { alias: line.slice(at + 1) })
}
