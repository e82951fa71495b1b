/**
 * The commands derived from the console's contract, with their lines in the help. Each is loaded only when requested:
 * the contract costs 50 ms and 18 MB, which other commands and roles avoid.
 */
import { Command } from "effect/cli"

const operators = {
  find: {
    line: "look up an id of any kind: event, delivery, payer, transaction, ...",
    load: async () => (await import("./operate/find.ts")).find
  },
  trigger: {
    line: "publish an event's example, to try receivers",
    load: async () => (await import("./operate/events.ts")).trigger
  },
  events: {
    line: "list and show published events, and print examples",
    load: async () => (await import("./operate/events.ts")).events
  },
  types: {
    line: "list, show, declare, change, retire and export event types",
    load: async () => (await import("./operate/types.ts")).types
  },
  endpoints: {
    line: "list, add, edit, test, pause and remove webhook endpoints",
    load: async () => (await import("./operate/endpoints.ts")).endpoints
  },
  deliveries: {
    line: "list, show and resend deliveries",
    load: async () => (await import("./operate/deliveries.ts")).deliveries
  },
  abandoned: {
    line: "list, show, resend and discard abandoned deliveries",
    load: async () => (await import("./operate/abandoned.ts")).abandoned
  },
  rejected: {
    line: "list, show, resend and discard messages that broke their schema",
    load: async () => (await import("./operate/rejected.ts")).rejected
  },
  receipts: {
    line: "list, show and total receipts, and refund payments",
    load: async () => (await import("./operate/receipts.ts")).receipts
  },
  claims: {
    line: "list and show payments in use",
    load: async () => (await import("./operate/claims.ts")).claims
  },
  books: {
    line: "list and resolve differences between chain and receipts",
    load: async () => (await import("./operate/books.ts")).books
  },
  speech: {
    line: "show sessions, latencies and voices",
    load: async () => (await import("./operate/speech.ts")).speech
  },
  models: {
    line: "list models, prices and uptime",
    load: async () => (await import("./operate/models.ts")).models
  }
}

export type OperatorsCommand = keyof typeof operators
export type OperatorsCommands = Readonly<Record<OperatorsCommand, Command.Command.Any>>

/** Commands named on the command line come complete, the others only with their line in the help. */
export const operatorsFor = async (isNamed: (name: string) => boolean): Promise<OperatorsCommands> => {
  const commands = Object.entries(operators).map(async ([name, { line, load }]) => {
    const command: Command.Command.Any = isNamed(name) ? await load() : Command.make(name)
    return [name, Command.withShortDescription(command as Command.Command<string, unknown>, line)] as const
  })
  return Object.fromEntries(await Promise.all(commands)) as OperatorsCommands
}
