/**
 * `Redaction`: what is a secret beside what is known as one (keys of the well-known providers, tokens, private keys,
 * passwords in URLs). Patterns run over every text that people or agents wrote, so they must be linear.
 */
import { Result, Schema } from "effect"
import { optional, required, section, withDefault } from "./defaults.ts"
import { EnvironmentName } from "./webhooks-section.ts"

const patternCharactersMax = 500

// Of what makes a search take more than linear time, the usual: a repeated group that repeats within.
const repeatsWithin = /\((?:[^()\\]|\\.)*(?:[+*]|\{\d+,\d*\})(?:[^()\\]|\\.)*\)(?:[+*]|\{\d+,\d*\})/u
const refersBack = /\\(?:[1-9]|k<)/u

const isSearchable = (source: string) => {
  const compiled = Result.try(() => new RegExp(source, "gu"))
  if (Result.isFailure(compiled)) return "not a regular expression (with the flag u)"
  if (compiled.success.test("")) return "finds a secret in an empty text"
  if (refersBack.test(source)) return "a reference back to a group may take very long"
  return !repeatsWithin.test(source) || "a repeated group that repeats within may take very long"
}

export const RedactionPattern = Schema.Struct({
  Name: required(Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,64}$/u)), "What stands in its place: `[name]`."),
  Pattern: required(
    Schema.String.check(Schema.isBetweenLength(1, patternCharactersMax), Schema.makeFilter(isSearchable)),
    "A regular expression with the flag u."
  ),
  Flags: optional(Schema.Literals(["i"]), "`i`: whatever the case.")
})
export interface RedactionPattern extends Schema.Schema.Type<typeof RedactionPattern> {}

export const Redaction = section({
  Patterns: withDefault(
    Schema.Array(RedactionPattern).check(Schema.isMaxLength(64)),
    [],
    "Further secrets, each removed from questions, answers, reasons and errors before they are kept or told, and from what is kept of messages that break their schema."
  ),
  SecretEnvVars: withDefault(
    Schema.Array(EnvironmentName).check(Schema.isMaxLength(64)),
    [],
    "Variables whose values are secrets wherever they occur."
  )
})
export interface Redaction extends Schema.Schema.Type<typeof Redaction> {}
