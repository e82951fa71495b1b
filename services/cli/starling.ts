/** The tree of commands, in the order in which somebody meets them. */
import { Command } from "effect/cli"
import { broker } from "./commands/broker.ts"
import { consents } from "./commands/consents.ts"
import { docs, topology } from "./commands/documents.ts"
import { doctor } from "./commands/doctor.ts"
import { endpoints } from "./commands/endpoints.ts"
import { role, up } from "./commands/fleet.ts"
import { check, load, test } from "./commands/launcher.ts"
import { pay } from "./commands/pay.ts"
import { publish } from "./commands/publish.ts"
import { redrive } from "./commands/redrive.ts"
import { runner } from "./commands/runner.ts"
import { say } from "./commands/say.ts"
import { tail } from "./commands/tail.ts"
import { token } from "./commands/token.ts"
import { top } from "./commands/top.ts"

export const starling = Command.make("starling").pipe(
  Command.withDescription(
    "A fleet of small workers: signed webhooks, paid model calls, streaming speech, a pipeline of work."
  ),
  Command.withSubcommands([
    { group: "The fleet", commands: [up, role, top] },
    { group: "Events and deliveries", commands: [publish, tail, endpoints, redrive] },
    { group: "Speech and models", commands: [say, pay] },
    { group: "Access", commands: [token, consents] },
    { group: "Where it runs", commands: [broker, doctor, runner] },
    { group: "Working on Starling", commands: [check, test, load, docs, topology] }
  ])
)
