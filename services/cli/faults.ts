/**
 * The faults of a command line, as lines for its author: what is wrong, what was probably meant, where to read more.
 * Pure.
 *
 * Suggestions for a name that does not exist. Pure.
 */
import type * as CliError from "effect/cli/CliError"
import type { CliOutput, HelpDoc } from "effect/cli"

type Fault = CliError.NonShowHelpErrors
type Invocation = Pick<CliOutput.Presenter.InvalidInvocation, "commandPath" | "helpDoc" | "errors">

export const faultLines = ({ commandPath, helpDoc, errors }: Invocation): ReadonlyArray<string> => {
  // Without a command, all of its options count as unknown.
  const unknown = errors.filter(({ _tag }) => _tag === "UnknownSubcommand")
  const shownErrors = unknown.length > 0 ? unknown : errors
  const lines = [...new Set(shownErrors.map((error) => `starling: ${faultOf(error, commandPath.slice(1), helpDoc)}`))]
  return [...lines, `./${commandPath.join(" ")} --help lists what there is`]
}

const faultOf = (error: Fault, path: ReadonlyArray<string>, doc: HelpDoc.HelpDoc): string => {
  const command = path.join(" ")
  switch (error._tag) {
    case "UnknownSubcommand":
      return `there is no command ${[...path, error.subcommand].join(" ")}${didYouMean(error.subcommand, commandsIn(doc))}`
    case "UnrecognizedOption":
      return `Unknown option '${error.option}'${didYouMean(error.option, optionsIn(doc))}`
    case "UnexpectedArgument":
      return `${command} takes nothing more, but was given ${error.arguments.join(" ")}`
    case "MissingArgument":
      return `${command} needs ${argumentOf(error.argument, doc)}`
    case "MissingOption":
      return `${command} needs --${error.option}`
    case "InvalidValue":
      return valueFault(error)
    case "DuplicateOption":
    case "ValidationError":
      return error.message
    case "UserError":
      return error.userMessage ?? error.message
  }
}

const valueFault = ({ option, value, expected, kind }: CliError.InvalidValue): string => {
  const name = kind === "flag" ? `--${option}` : option
  if (expected === "at most 1 value")
    return `${name} is given ${value.replace(" occurrences", " times")}, it is taken once`
  const wanted = wordsOf(expected)
  return value === "" ? `${name} needs a value: ${wanted}` : `${name} ${value}? it is ${wanted}`
}

/** The words of a type such as `"evm" | "solana"`, for people. */
const wordsOf = (expected: string): string => {
  const words = expected.split(" | ").map((word) => word.replace(/^"(.*)"$/u, "$1"))
  return words.length < 2 ? expected : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`
}

const argumentOf = (name: string, { args = [] }: HelpDoc.HelpDoc): string => {
  const found = args.find((argument) => argument.name === name)
  const description = found === undefined || found.description._tag === "None" ? "" : `: ${found.description.value}`
  return `<${name}>${description}`
}

const commandsIn = ({ subcommands = [] }: HelpDoc.HelpDoc) =>
  subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))

const optionsIn = ({ flags, globalFlags = [] }: HelpDoc.HelpDoc) =>
  [...flags, ...globalFlags].flatMap(({ name, aliases }) => [`--${name}`, ...aliases])

const namesMax = 3
// A shorter part occurs in too many names to suggest one.
const partCharactersMin = 4
// The longest name compared letter by letter; in a longer one a letter or two are not a typical mistake.
const charactersMax = 100

/** Up to three names, nearest first; none when nothing is near. */
export const nearNames = (name: string, known: Iterable<string>): ReadonlyArray<string> => {
  if (name.length > charactersMax) return []
  const wrongMax = Math.max(1, Math.floor(name.length / 4))
  const isPart = (other: string) => name.length >= partCharactersMin && other.includes(name)
  const near = [...new Set(known)]
    .map((other) => ({ other, wrong: editsBetween(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, wrong }) => wrong <= wrongMax || isPart(other))
    .toSorted((left, right) => left.wrong - right.wrong)
  // When one name is a single typo away, more distant names were not meant.
  const [best] = near
  const farthest = best !== undefined && best.wrong <= wrongMax ? best.wrong + 1 : Infinity
  return near
    .filter(({ wrong }) => wrong <= farthest)
    .slice(0, namesMax)
    .map(({ other }) => other)
}

/** The end of a refusal; empty when nothing is near. */
export const didYouMean = (name: string, known: Iterable<string>): string => {
  const near = nearNames(name, known)
  const last = near.at(-1)
  if (last === undefined) return ""
  const before = near.slice(0, -1).join(", ")
  return `; did you mean ${before === "" ? last : `${before} or ${last}`}?`
}

/** Letters inserted, dropped, changed, or swapped. */
const editsBetween = (left: string, right: string): number => {
  let before: ReadonlyArray<number> = []
  let row: ReadonlyArray<number> = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let index = 0; index < left.length; index++) {
    const next = [index + 1]
    for (let column = 1; column <= right.length; column++) {
      const changed = (row[column - 1] ?? 0) + (left[index] === right[column - 1] ? 0 : 1)
      const isSwapped = left[index] === right[column - 2] && left[index - 1] === right[column - 1]
      const swapped = isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity
      next.push(Math.min(changed, swapped, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[right.length] ?? 0
}
