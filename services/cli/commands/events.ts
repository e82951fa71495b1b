/** `publish`, `tail`, `endpoints` and `redrive`: events, and their deliveries to webhook endpoints. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Argument, Command, Flag } from "effect/cli"
import { file, json, nats, orUndefined, text, texts, toggle, wholeNumber, word, words } from "../flags.ts"
import { running } from "../running.ts"

const flags = {
  file: file("file", "what to send, as a JSON object in a file, or - for standard input"),
  example: toggle("example", "send the catalogue's example; with --file, its fields lie over the example's"),
  count: wholeNumber("count", { min: 1, max: 1_000_000, description: "how often (1)" }).pipe(Flag.withDefault(1)),
  unchecked: toggle("unchecked", "send it although it is not good"),
  nats
}

const report = Command.make(
  "report",
  {
    kind: word("kind", "which report, such as iteration-ended; without one, all there are").pipe(
      Argument.optional,
      Argument.map(Option.getOrUndefined)
    ),
    ...flags
  },
  (given) =>
    running(
      () => import("../publish.ts"),
      ({ publishReport }) => publishReport(given)
    )
).pipe(
  Command.withShortDescription("send a report of a runner or a service"),
  Command.withDescription(
    "Sends a report as a runner or an internal service would. What is missing of its head is filled in; it is checked before it is sent, and every fault is named."
  ),
  Command.withExamples([{ command: "starling publish report iteration-ended --example" }])
)

export const publish = Command.make(
  "publish",
  { event: word("event", "its name, such as work_item.merged"), ...flags },
  (given) =>
    running(
      () => import("../publish.ts"),
      ({ publish }) => publish(given)
    )
).pipe(
  Command.withShortDescription("publish an event, or a report"),
  Command.withDescription(
    "Publishes an event as an internal service would. Missing heads (version, name, time) are filled in; it is checked before it is sent, and every fault is named."
  ),
  Command.withExamples([
    { command: "starling publish work_item.merged --file dev/examples/merged.json" },
    { command: "starling publish queue.paused --example" }
  ]),
  Command.withSubcommands([report])
)

export const tail = Command.make(
  "tail",
  {
    patterns: words("pattern", "names of events, such as work_item.merged or queue.*; without one, all"),
    attempts: toggle("attempts", "show what was sent and answered, instead of events"),
    last: wholeNumber("last", { min: 1, max: 10_000, description: "show the last N there are, and end" }).pipe(
      orUndefined
    ),
    follow: toggle("follow", "with --last: go on from there").pipe(Flag.withAlias("f")),
    json,
    nats
  },
  (given) =>
    running(
      () => import("../tail.ts"),
      ({ tail }) => tail(given)
    )
).pipe(
  Command.withShortDescription("watch events, or what was sent and answered"),
  Command.withDescription(
    "Shows events as they are published, or with --attempts what was sent and answered, until it is stopped."
  ),
  Command.withExamples([
    { command: "starling tail 'work_item.*'", description: "all that happens to work items" },
    { command: "starling tail --attempts --last 100", description: "what receivers said lately" }
  ])
)

const loadEndpoints = () => import("../endpoints.ts")

const endpointsFamily = Command.make("endpoints").pipe(
  Command.withSharedFlags({ nats }),
  Command.withHandler((given) => running(loadEndpoints, ({ listEndpoints }) => listEndpoints(given))),
  Command.withShortDescription("list, pause and resume the webhook endpoints"),
  Command.withDescription(
    "What is true of the webhook endpoints now: state, backlog and what is in work. Without a command, the list."
  )
)

const name = word("name", "the endpoint's name in the configuration")

const endpointsList = Command.make("list", {}, () =>
  Effect.flatMap(endpointsFamily, (given) => running(loadEndpoints, ({ listEndpoints }) => listEndpoints(given)))
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
    Effect.flatMap(endpointsFamily, ({ nats }) =>
      running(loadEndpoints, ({ pauseEndpoint }) => pauseEndpoint({ ...given, nats }))
    )
).pipe(
  Command.withDescription("Sends nothing more to an endpoint; it keeps its backlog and misses nothing."),
  Command.withExamples([{ command: 'starling endpoints pause demo --reason "its disk is full"' }])
)

const resume = Command.make("resume", { name }, (given) =>
  Effect.flatMap(endpointsFamily, ({ nats }) =>
    running(loadEndpoints, ({ resumeEndpoint }) => resumeEndpoint({ ...given, nats }))
  )
).pipe(Command.withDescription("Goes on with an endpoint, and closes its breaker."))

export const endpoints = endpointsFamily.pipe(Command.withSubcommands([endpointsList, pause, resume]))

export const redrive = Command.make(
  "redrive",
  {
    endpoint: text("endpoint", "NAME", "those to this endpoint"),
    event: texts("event", "NAME", "those of this event; patterns work, and it may be given again"),
    since: text("since", "TIME", "those abandoned since then, such as 2026-11-20T12:00:00Z"),
    until: text("until", "TIME", "those abandoned until then"),
    max: wholeNumber("max", { min: 1, max: Number.MAX_SAFE_INTEGER, description: "at most so many (100000)" }).pipe(
      Flag.withDefault(100_000)
    ),
    all: toggle("all", "all there are"),
    nats
  },
  (given) =>
    running(
      () => import("../redrive.ts"),
      ({ redrive }) => redrive(given)
    )
).pipe(
  Command.withShortDescription("send abandoned deliveries again"),
  Command.withDescription("Sends abandoned deliveries again, by endpoint, event and time."),
  Command.withExamples([
    { command: "starling redrive --endpoint demo" },
    { command: "starling redrive --event 'work_item.*' --since 2026-11-20T12:00:00Z" }
  ])
)
