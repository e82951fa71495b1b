/**
 * An input as the API takes it, plain text or SSML, into chunks for the synthesizers. Pure and linear in the
 * input; an input that cannot be understood, or that says nothing, is answered with every fault that was found.
 */
import { Result } from "effect"
import type { Reading } from "./chunks.ts"
import { readRuns } from "./chunker.ts"
import { normalise } from "./normalise.ts"
import { readPlainText } from "./plain-text.ts"
import type { Fault } from "./runs.ts"
import { isSsml, readSsml } from "./ssml.ts"

export interface ReadOptions {
  readonly textNormalization: boolean
  /** A BCP 47 tag; decides on words and sentences, and on how numbers are said. */
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
