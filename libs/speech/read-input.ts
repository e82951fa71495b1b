/**
 * From an input as the API takes it, plain text or SSML, to chunks for the synthesizers. Pure and linear in the input.
 * An input that cannot be understood, or that has nothing to say, fails with every fault that was found.
 */
import { Result } from "effect"
import { type Reading, readRuns } from "./text/chunker.ts"
import { normalise } from "./english/normalise.ts"
import { type Fault, Run } from "./text/runs.ts"
import { isSsml, readSsml } from "./ssml/document.ts"
import { plainStyle } from "./text/style.ts"

interface ReadOptions {
  readonly textNormalization: boolean
  /** A BCP 47 tag; it decides how words and sentences are found and how numbers are spoken. */
  readonly locale: string
}

export const readInput = (
  input: string,
  { locale, textNormalization }: ReadOptions
): Result.Result<Reading, ReadonlyArray<Fault>> => {
  const runs = isSsml(input) ? readSsml(input, locale) : Result.succeed(readPlainText(input))
  return Result.flatMap(runs, (runs) => {
    const reading = readRuns(input, textNormalization ? normalise(runs, locale) : runs, locale)
    return reading.chunks.length > 0
      ? Result.succeed(reading)
      : Result.fail([{ message: "there is nothing to say", offset: 0 }])
  })
}

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]/gu

/**
 * Plain text as one run. Units that a C library would stumble over, half surrogate pairs and control characters, become
 * harmless ones of the same length, so that every unit keeps its place. Line ends stay: they separate sentences.
 */
const readPlainText = (input: string): ReadonlyArray<Run> => {
  const text = input.toWellFormed().replaceAll(controls, " ")
  const starts = Int32Array.from({ length: text.length }, (_, index) => index)
  const ends = starts.map((start) => start + 1)
  return [Run.Text(text, starts, ends, plainStyle)]
}
