/** `endpoints`: what is true of the webhook endpoints now, and rest for one of them. */
import { Command, Flag } from "effect/cli"
import * as Effect from "effect/Effect"
import { nats, word } from "../flags.ts"
import { running } from "../running.ts"

const load = () => import("../endpoints/endpoints.ts")

const family = Command.make("endpoints").pipe(
  Command.withSharedFlags({ nats }),
  Command.withHandler((given) => running(load, ({ listEndpoints }) => listEndpoints(given))),
  Command.withShortDescription("list, pause and resume the webhook endpoints"),
  Command.withDescription(
    "What is true of the webhook endpoints now: state, backlog and what is in work. Without a command, the list."
  )
)

const name = word("name", "the endpoint's name in the configuration")

const list = Command.make("list", {}, () =>
  Effect.flatMap(family, (given) => running(load, ({ listEndpoints }) => listEndpoints(given)))
).pipe(Command.withDescription("Every endpoint: state, backlog, deliveries in work."))

const pause = Command.make(
  "pause",
  {
    name,
    reason: Flag.String("reason").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription("why, for who reads the list"),
      Flag.withDefault("paused by an operator")
    ),
    by: Flag.String("by").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("who, for who reads the list"),
      Flag.withDefault("operator")
    )
  },
  (given) =>
    Effect.flatMap(family, ({ nats }) => running(load, ({ pauseEndpoint }) => pauseEndpoint({ ...given, nats })))
).pipe(
  Command.withDescription("Sends nothing more to an endpoint; it keeps its backlog and misses nothing."),
  Command.withExamples([{ command: 'starling endpoints pause demo --reason "its disk is full"' }])
)

const resume = Command.make("resume", { name }, (given) =>
  Effect.flatMap(family, ({ nats }) => running(load, ({ resumeEndpoint }) => resumeEndpoint({ ...given, nats })))
).pipe(Command.withDescription("Goes on with an endpoint, and closes its breaker."))

export const endpoints = family.pipe(Command.withSubcommands([list, pause, resume]))
