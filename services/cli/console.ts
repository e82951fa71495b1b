/** The console of a command: its output, its refusals, and the environment and logs that its body uses. */
import { Effect, Layer, Logger, Schema } from "effect"
import { Environment, lineLogger } from "#runtime"

/** How every command ends, for scripts. */
export const exitCodes = {
  0: "it did what it was asked",
  1: "it was refused, or could not",
  2: "it was asked wrongly",
  69: "no fleet runs there",
  130: "it was stopped"
} as const

/** A fault that the person at the terminal can correct. Without a code the command ends with 1. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("CommandRefused", {
  reason: Schema.String,
  exitCode: Schema.optionalKey(Schema.Literals([2, 69]))
}) {
  override get message() {
    return this.reason
  }
}

export const misused = (reason: string) => new CommandRefused({ reason, exitCode: 2 })

export const noFleet = (reason: string) => new CommandRefused({ reason, exitCode: 69 })

export const print = (line: string) => Effect.sync(() => void process.stdout.write(`${line}\n`))

/** On standard error, so that a program that reads the output sees none of this. */
export const note = (line: string) => Effect.sync(() => void process.stderr.write(`${line}\n`))

/** Rows below their headings, each column as wide as its widest cell. Pure. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

/** The services that every command's body uses. */
export const setting = Layer.mergeAll(
  Layer.succeed(Environment, process.env),
  Logger.layer([lineLogger("pretty", (line) => void process.stderr.write(`${line}\n`))])
)
