/**
 * The faults of a command line, as lines for its author: what is wrong, what was probably meant, where to read more.
 * Pure.
 */
import type * as CliError from "effect/cli/CliError"
import type { CliOutput, HelpDoc } from "effect/cli"
import { didYouMean } from "#base"

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
