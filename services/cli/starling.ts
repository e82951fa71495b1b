/** The tree of commands, in the order of the help. */
import { Command } from "effect/cli"
import { consents, token } from "./commands/access.ts"
import { check, docs, load, test, topology } from "./commands/development.ts"
import { events, listen, publish, tail, trigger } from "./commands/events.ts"
import { consolePage, role, top, up } from "./commands/fleet.ts"
import { backup, broker, doctor, runner } from "./commands/hosting.ts"
import { books, claims, receipts } from "./commands/money.ts"
import { abandoned, deliveries, endpoints, rejected } from "./commands/operators.ts"
import { pay, say, speech } from "./commands/speech-and-models.ts"

export const starling = Command.make("starling").pipe(
  Command.withDescription(
    "A fleet of small workers: signed webhooks, paid model calls, streaming speech, a pipeline of work."
  ),
  Command.withSubcommands([
    { group: "The fleet", commands: [up, role, top, consolePage] },
    { group: "Events", commands: [publish, trigger, events, tail, listen] },
    { group: "Endpoints and deliveries", commands: [endpoints, deliveries, abandoned, rejected] },
    { group: "Money", commands: [receipts, claims, books] },
    { group: "Speech and models", commands: [say, speech, pay] },
    { group: "Access", commands: [token, consents] },
    { group: "Where it runs", commands: [doctor, backup, broker, runner] },
    { group: "Working on Starling", commands: [check, test, load, docs, topology] }
  ])
)
