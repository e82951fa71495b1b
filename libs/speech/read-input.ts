/**
 * From an input as the API accepts it, plain text or SSML, to chunks for the synthesizers. Pure and linear in the
 * input. An input that cannot be understood fails with every fault found, and so does one in which nothing is written.
 * One of signs alone, that nobody says, has no chunks.
 */
import { Result } from "effect"
import type { Lexeme } from "#speech/contract"
import { type Reading, readRuns } from "./text/chunker.ts"
import { type Fault, Run } from "./text/runs.ts"
import { matcherOf, withLexemes } from "./lexicon/lexeme.ts"
import { dividedByScript } from "./text/scripts.ts"
import { isSsml, readSsml } from "./ssml/document.ts"
import { localeOf, ssmlLimits, type Tongue } from "./ssml/elements.ts"
import { plainStyle } from "./text/style.ts"
import { verbalise } from "./said/verbalise.ts"

/** `locale`: a BCP 47 tag; it determines how words and sentences are found and how numbers are spoken. */
interface ReadOptions extends Tongue {
  readonly textNormalization: boolean
  readonly lexemes?: ReadonlyArray<Lexeme>
}

/** The fault of an input without a visible character. */
export const emptyInput = "there is nothing to say"

export const readInput = (
  input: string,
  { textNormalization, lexemes = [], ...tongue }: ReadOptions
): Result.Result<Reading, ReadonlyArray<Fault>> => {
  const read = isSsml(input) ? readSsml(input, tongue) : Result.succeed(readPlainText(input))
  return Result.flatMap(
    Result.flatMap(read, (runs) => voiced(pronounced(runs, lexemes, tongue), tongue)),
    (runs) => {
      const reading = readRuns(input, textNormalization ? normalised(runs, tongue) : runs, tongue.locale)
      return reading.chunks.length > 0 || runs.some(isWritten)
        ? Result.succeed(reading)
        : Result.fail([{ message: emptyInput, offset: 0 }])
    }
  )
}

const isWritten = (run: Run) => run._tag === "Text" && hasVisible(run.text)

/** Anything but white space and inaudible characters. */
export const hasVisible = (text: string): boolean => /[^\p{Z}\p{C}]/u.test(text)

/** A lexicon's words are spoken as it defines in the texts of its language. */
const pronounced = (runs: ReadonlyArray<Run>, lexemes: ReadonlyArray<Lexeme>, tongue: Tongue): ReadonlyArray<Run> => {
  if (lexemes.length === 0) return runs
  const byLocale = new Map<string, ReturnType<typeof matcherOf>>()
  return withLexemes(runs, ({ language }) => {
    const locale = localeOf(tongue, language)
    const own = byLocale.get(locale) ?? matcherOf(lexemes.filter((lexeme) => isFor(lexeme, locale)))
    byLocale.set(locale, own)
    return own
  })
}

/** Another region of the language has the same words. */
const isFor = ({ language }: Lexeme, locale: string) =>
  language === undefined || language.split("-")[0]?.toLowerCase() === locale.split("-")[0]?.toLowerCase()

/** Words in a script that the voice cannot read go to other voices; those that none reads are faults. */
const voiced = (runs: ReadonlyArray<Run>, tongue: Tongue): Result.Result<ReadonlyArray<Run>, ReadonlyArray<Fault>> => {
  const { others } = tongue
  if (others === undefined) return Result.succeed(runs)
  const divided = dividedByScript(runs, {
    localeOf: ({ language }) => localeOf(tongue, language),
    isRead: (language) => others.has(language)
  })
  if (divided.unread.length === 0) return Result.succeed(divided.runs)
  return Result.fail(divided.unread.slice(0, ssmlLimits.faultsMax))
}

const normalised = (runs: ReadonlyArray<Run>, tongue: Tongue) =>
  runs.flatMap((run) => verbalise([run], localeOf(tongue, run._tag === "Text" ? run.language : undefined)))

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]/gu

/**
 * Plain text as one run. Units that a C library would stumble over, half surrogate pairs and control characters, become
 * harmless ones of the same length, so that every unit keeps its position. Line ends stay: they separate sentences.
 */
const readPlainText = (input: string): ReadonlyArray<Run> => {
  const text = input.toWellFormed().replaceAll(controls, " ")
  const starts = Int32Array.from({ length: text.length }, (_, index) => index)
  const ends = starts.map((start) => start + 1)
  return [Run.Text(text, starts, ends, plainStyle)]
}
