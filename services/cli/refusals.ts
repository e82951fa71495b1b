/** How a command ends that cannot do what it was asked, and how it speaks to whoever asked. */
import { Effect, Schema } from "effect"

/** What the person at the terminal can put right. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("CommandRefused", {
  reason: Schema.String,
  /** Asked wrongly 2, no fleet there 69; any other failure ends a command with 1. */
  exitCode: Schema.optionalKey(Schema.Literals([2, 69]))
}) {
  override get message() {
    return this.reason
  }
}

export const misused = (reason: string) => new CommandRefused({ reason, exitCode: 2 })

export const noFleet = (reason: string) => new CommandRefused({ reason, exitCode: 69 })

export const print = (line: string) => Effect.sync(() => void process.stdout.write(`${line}\n`))

/** Beside the output, so that a program that reads it reads none of this. */
export const note = (line: string) => Effect.sync(() => void process.stderr.write(`${line}\n`))
