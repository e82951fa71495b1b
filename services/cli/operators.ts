/**
 * The commands that are derived from the console's contract, with their lines in the help. Their code is loaded only for
 * them: the contract would cost every other command, and every role, a quarter of its start and 18 MB.
 */
import { Command } from "effect/cli"

export const operatorsLines = {
  trigger: "publish an event's example, to try receivers",
  events: "list and look at published events, and at examples",
  endpoints: "list, make, change, test, pause and remove webhook endpoints",
  deliveries: "list deliveries, look at one, send them again",
  abandoned: "list deliveries that were given up, send them again, discard them",
  rejected: "list messages that broke their schema, send them again, discard them",
  receipts: "list receipts, look at one, sum them up, give a payment back",
  claims: "list payments that are in use, look at one",
  books: "what the comparison of chain and receipts found, and mending it",
  speech: "who speaks now, how soon it is heard, and the voices",
  models: "the models, their prices, and how often they answered"
}

export type OperatorsCommand = keyof typeof operatorsLines
export type OperatorsCommands = Readonly<Record<OperatorsCommand, Command.Command.Any>>

const line = (name: OperatorsCommand) => Command.make(name).pipe(Command.withShortDescription(operatorsLines[name]))

/** Enough for the help of all commands. */
const named = Object.fromEntries(
  (Object.keys(operatorsLines) as ReadonlyArray<OperatorsCommand>).map((name) => [name, line(name)])
) as OperatorsCommands

/** Those that this command line needs. */
export const operatorsFor = async (parameters: ReadonlyArray<string>): Promise<OperatorsCommands> =>
  parameters.some((word) => word in operatorsLines || word.startsWith("--completions"))
    ? await import("./operate/commands.ts")
    : named
