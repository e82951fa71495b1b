/**
 * Runs a command line to its end, and ends with one of the exit codes of `console.ts`. Every failure is printed on
 * standard error, below `starling: `.
 */
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { completions } from "./completions.ts"
import { faultLines } from "./faults.ts"
import { signals } from "./flags.ts"
import { writeError, writeOut } from "./screen.ts"
import { consents, token } from "./commands/access.ts"
import { check, docs, load, mutants, test, topology, voices } from "./commands/development.ts"
import { listen, publish, tail } from "./commands/events.ts"
import { consolePage, role, top, trial, up } from "./commands/fleet.ts"
import { backup, broker, doctor, runner } from "./commands/hosting.ts"
import { keys } from "./commands/keys.ts"
import { type OperatorsCommands, operatorsFor } from "./operators.ts"
import { agents, audiobooks, lexicons, pay, payer, say } from "./commands/speech-and-models.ts"

export const runCommandLine = (parameters: ReadonlyArray<string>, version: string): void => {
  const stop = Effect.runCallback(commandLine(parameters, version), {
    onExit: (exit) => endWith(exit._tag === "Success" ? exit.value : 130)
  })
  for (const signal of signals) process.on(signal, () => stop())
  // The reader of the output has gone, as in `tail | head`.
  process.stdout.on("error", () => stop())
}

/**
 * Ends once the readers of both outputs have received everything: a pipe takes 64 KiB at a time. A signal ends it at
 * once.
 */
const endWith = (code: number) => {
  for (const signal of signals) process.removeAllListeners(signal)
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)))
}

/** The exit code, once everything is printed. */
export const commandLine = (parameters: ReadonlyArray<string>, version: string): Effect.Effect<number> => {
  const hasColors = process.stdout.isTTY === true && !process.env["NO_COLOR"]
  return interpret(parameters, { version, presenter: onTerminal(hasColors) }).pipe(
    Effect.as(0),
    Effect.catchCause((cause) => Effect.sync(() => refuse(cause)))
  )
}

export interface Interpreting {
  readonly version: string
  readonly presenter: CliOutput.Presenter
}

/** Runs the command; help, the version and faults of the command line go to the presenter. */
export const interpret = (
  parameters: ReadonlyArray<string>,
  { version, presenter }: Interpreting
): Effect.Effect<void, unknown> => {
  const isForCompletion = parameters.some((word) => word.startsWith("--completions"))
  return Effect.promise(() => operatorsFor((name) => isForCompletion || parameters.includes(name))).pipe(
    Effect.flatMap((operators) => Command.runWith(starlingWith(operators), { version })(parameters)),
    Effect.provide(Layer.merge(surroundings, CliOutput.layerPresenter(presenter)))
    // The types would also allow a terminal and children; none of our commands needs them.
  ) as Effect.Effect<void, unknown>
}

// File names stay as written: a command resolves them from the user's folder, and `-` is not a file.
const surroundings = Layer.mergeAll(
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, completions] }),
  FileSystem.layerNoop({ exists: () => Effect.succeed(false) }),
  Layer.effect(
    Path.Path,
    Effect.map(Path.Path, (path) => ({ ...path, isAbsolute: () => true }))
  ).pipe(Layer.provide(Path.layer))
)

const onTerminal = (hasColors: boolean): CliOutput.Presenter => ({
  present: (event) => {
    switch (event._tag) {
      case "Help":
        // An incomplete command is refused with the commands that could follow.
        return showHelp(
          event.reason === "Requested" ? process.stdout : process.stderr,
          helpText(event.helpDoc, hasColors)
        )
      case "InvalidInvocation":
        return Effect.sync(() => writeError(`${faultLines(event).join("\n")}\n`))
      case "Version":
        return Effect.sync(() => writeOut(`${event.name} ${event.version}\n`))
    }
  }
})

export const helpText = (doc: HelpDoc, hasColors: boolean): string => {
  const { formatHelpDoc } = CliOutput.defaultFormatter({ colors: hasColors, globalFlags: "summary" })
  // Shows no value for a flag without one.
  const flags = doc.flags.map((flag) => (flag.type === "[=boolean]" ? { ...flag, type: "boolean" } : flag))
  const inherited = doc.inheritedFlags?.map((flag) =>
    flag.type === "[=boolean]" ? { ...flag, type: "boolean" } : flag
  )
  return formatHelpDoc({ ...doc, flags, ...(inherited === undefined ? {} : { inheritedFlags: inherited }) })
}

// The colours of the help are our own.
const showHelp = (stream: NodeJS.WriteStream, text: string) => Effect.sync(() => void stream.write(`${text}\n`))

/** Prints the reason, unless already printed, and returns the exit code. */
const refuse = (cause: Cause.Cause<unknown>): number => {
  const found = Cause.findError(cause)
  const failure = Result.isSuccess(found) ? found.success : undefined
  if (CliError.isCliError(failure)) return 2
  const text = failure instanceof Error && failure.message !== "" ? failure.message : Cause.pretty(cause)
  writeError(`starling: ${text}\n`)
  return failure instanceof Error && "exitCode" in failure ? Number(failure.exitCode) : 1
}

/** The tree of commands, in the order of the help. */
export const starlingWith = (operators: OperatorsCommands) =>
  Command.make("starling").pipe(
    Command.withDescription(
      "A fleet of small workers: signed webhooks, paid model calls, streaming speech, a pipeline of work."
    ),
    Command.withSubcommands([
      { group: "The fleet", commands: [up, trial, role, top, operators.find, consolePage] },
      { group: "Events", commands: [publish, operators.trigger, operators.events, operators.types, tail, listen] },
      {
        group: "Endpoints and deliveries",
        commands: [operators.endpoints, operators.deliveries, operators.abandoned, operators.rejected]
      },
      { group: "Money", commands: [operators.receipts, operators.claims, operators.books, keys] },
      {
        group: "Speech and models",
        commands: [say, audiobooks, voices, lexicons, operators.speech, operators.models, pay, payer, agents]
      },
      { group: "Access", commands: [token, consents] },
      { group: "Where it runs", commands: [doctor, backup, broker, runner] },
      { group: "Working on Starling", commands: [check, test, mutants, load, docs, topology] }
    ])
  )
