/** Patterns of JSON Schema by an engine whose time is linear in the text, where JavaScript's own can be exponential. */
import { Result } from "effect"
import { RE2JS } from "re2js"

export interface LinearPattern {
  /** Whether any part of the text matches. */
  readonly test: (text: string) => boolean
  /** The work of `test` at worst, when it follows every state at once; a step is less than a microsecond. */
  readonly stepsFor: (text: string) => number
}

// The longest pattern that people write for a field.
const charactersMax = 1_000
// Counted repetitions are written out: `(a{100}){100}` has ten thousand states.
const statesMax = 5_000
const statesPerStep = 100

/** Fails with why there is no such pattern. Backreferences and look-around have no linear time. */
export const linearPattern = (source: string): Result.Result<LinearPattern, string> => {
  if (source.length > charactersMax) return Result.fail(`a pattern has at most ${charactersMax} characters`)
  return Result.flatMap(compiled(source), (pattern) => {
    const states = pattern.programSize()
    if (states > statesMax) return Result.fail(`the pattern has ${states} states, of ${statesMax} allowed`)
    return Result.succeed({
      test: (text) => pattern.test(text),
      stepsFor: (text) => 1 + Math.ceil((text.length * states) / statesPerStep)
    })
  })
}

const compiled = (source: string): Result.Result<RE2JS, string> =>
  Result.try({
    try: () => RE2JS.compile(RE2JS.translateRegExp(source)),
    catch: (error) => `the pattern cannot be matched in linear time: ${error instanceof Error ? error.message : ""}`
  })
